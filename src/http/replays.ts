import { createHash } from "node:crypto";
import type { RunEnd } from "../recovery/run.ts";
import { Recording, type Room } from "./recording.ts";

export interface ReplayLimits {
  readonly replaySeconds: number;
  readonly replayGraceSeconds: number;
  /** Over all recordings. */
  readonly maxReplayBytes: number;
}

/** What a client asks to be done once. */
export interface Claim {
  /** Hash of the inbound key, else of the client's own credentials. */
  readonly caller: string;
  readonly route: string;
  readonly key: string;
  readonly body: Buffer;
  /** Of the configuration: after a change the same key is a new run. */
  readonly revision: string;
}

/** What carries a recording to other replicas. */
interface Copy {
  /** The run is over, and nothing more will be recorded. `kept`: it may be replayed. */
  /** Settles when all of it is carried over, or is given up. */
  settle(end: RunEnd, kept: boolean): Promise<void>;
}

/** One run and what it has answered so far. */
export interface SharedRun {
  readonly recording: Recording;
  copy: Copy | null;
  /** How the run ended. */
  readonly end: Promise<RunEnd>;
  /** To be called by the run's own request: what ends it, and how it ended. */
  onAbandoned(leave: () => void): void;
  settle(end: RunEnd): void;
}

interface Entry extends SharedRun {
  readonly bodyHash: string;
  readonly revision: string;
  expires: NodeJS.Timeout | null;
}

/** What a recording costs beside its content: keys that never repeat must not cost nothing. */
const ENTRY_BYTES = 2_048;

/** Runs by caller, route and key. Content stays in memory, bounded in time and bytes, and is nobody's but its caller's. */
export class Replays {
  readonly #limits: () => ReplayLimits;
  readonly #entries = new Map<string, Entry>();
  /** Of all recordings together, what each costs beside its content included. */
  #bytes = 0;
  readonly #room: Room = {
    take: (bytes) => this.#take(bytes),
    give: (bytes) => {
      this.#bytes -= bytes;
    },
  };

  constructor(limits: () => ReplayLimits) {
    this.#limits = limits;
  }

  /** `fresh`: the caller's request is the run; `same`: it is to attach to one; `conflict`: the key was used for another body. */
  claim(claim: Claim): { readonly is: "fresh" | "same"; readonly run: SharedRun } | { readonly is: "conflict" } {
    const id = hash(`${claim.caller}\n${claim.route}\n${claim.key}`);
    const bodyHash = hash(claim.body);
    const known = this.#entries.get(id);
    if (known !== undefined && known.revision === claim.revision && !known.recording.spilled) {
      return known.bodyHash === bodyHash ? { is: "same", run: known } : { is: "conflict" };
    }
    this.#drop(id, known);
    const entry = this.#entry(id, bodyHash, claim.revision);
    this.#entries.set(id, entry);
    this.#bytes += ENTRY_BYTES;
    return { is: "fresh", run: entry };
  }

  close(): void {
    for (const [id, entry] of this.#entries) this.#drop(id, entry);
  }

  #entry(id: string, bodyHash: string, revision: string): Entry {
    let leave: () => void = () => undefined;
    let grace: NodeJS.Timeout | null = null;
    let settled: (end: RunEnd) => void = () => undefined;
    const end = new Promise<RunEnd>((resolve) => {
      settled = resolve;
    });
    const recording = new Recording(this.#room, (abandoned) => {
      if (grace !== null) clearTimeout(grace);
      grace = abandoned ? setTimeout(() => leave(), this.#limits().replayGraceSeconds * 1000) : null;
    });
    const entry: Entry = {
      recording,
      copy: null,
      end,
      bodyHash,
      revision,
      expires: null,
      onAbandoned: (ends) => {
        leave = ends;
      },
      settle: (how) => {
        if (grace !== null) clearTimeout(grace);
        settled(how);
        const whole = how.outcome !== "failed" && how.outcome !== "canceled" && how.outcome !== "rejected";
        // What failed is worth asking again, and what is too long is not there any more.
        const kept = whole && !recording.spilled && recording.ended;
        const copied = entry.copy?.settle(how, kept);
        if (kept) this.#keep(id, entry);
        else this.#drop(id, entry, copied);
      },
    };
    return entry;
  }

  #keep(id: string, entry: Entry): void {
    if (this.#entries.get(id) !== entry) return;
    entry.expires = setTimeout(() => this.#drop(id, entry), this.#limits().replaySeconds * 1000);
    entry.expires.unref();
  }

  /** The oldest finished ones make room. */
  #take(bytes: number): boolean {
    const most = this.#limits().maxReplayBytes;
    for (const [id, one] of this.#entries) {
      if (this.#bytes + bytes <= most) break;
      if (one.expires !== null) this.#drop(id, one);
    }
    if (this.#bytes + bytes > most) return false;
    this.#bytes += bytes;
    return true;
  }

  /** `copied`: until then its content is still to be carried over to where other replicas find it. */
  #drop(id: string, entry: Entry | undefined, copied: Promise<void> | undefined = undefined): void {
    if (entry === undefined) return;
    if (entry.expires !== null) clearTimeout(entry.expires);
    if (this.#entries.get(id) !== entry) return;
    this.#entries.delete(id);
    this.#bytes -= ENTRY_BYTES;
    if (copied === undefined) entry.recording.spill();
    else void copied.then(() => entry.recording.spill());
  }
}

function hash(of: string | Buffer): string {
  return createHash("sha256").update(of).digest("base64");
}
