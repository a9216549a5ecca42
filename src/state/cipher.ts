import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What encrypts and names shared replays: from the configured secret alone, so that every replica that knows it has the same. */
export class Secret {
  readonly #key: Buffer;

  /** Takes some 50 ms: a secret that a person has chosen is made costly to guess. */
  constructor(replayKey: string) {
    this.#key = scryptSync(replayKey, "lastword:1:replays", 32);
  }

  /** A name that tells nothing of what it is for, nor can be guessed at. */
  name(...of: readonly (string | Buffer)[]): string {
    const mac = createHmac("sha256", this.#key);
    for (const part of of) mac.update(`${part.length}\n`).update(part);
    return mac.digest("base64url").slice(0, 24);
  }

  /** A key for one stream alone, so that no number of streams uses one up. */
  sealFor(stream: string): Seal {
    return new Seal(() => Buffer.from(hkdfSync("sha256", this.#key, stream, "entries", 32)));
  }
}

/** AES-256-GCM over the entries of one stream; `n` is an entry's place in it, so that none can be moved, left out or repeated. */
export class Seal {
  readonly #make: () => Buffer;
  #made: Buffer | null = null;

  /** @param make the key, made when it is first wanted: no request waits for it */
  constructor(make: () => Buffer) {
    this.#make = make;
  }

  get #key(): Buffer {
    this.#made ??= this.#make();
    return this.#made;
  }

  close(n: number, plain: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(placeOf(n));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
  }

  /** null: it is not what was sealed for this place. */
  open(n: number, sealed: Buffer): Buffer | null {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, sealed.subarray(0, NONCE_BYTES)).setAAD(placeOf(n));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      return null;
    }
  }
}

function placeOf(n: number): Buffer {
  return Buffer.from(String(n));
}
