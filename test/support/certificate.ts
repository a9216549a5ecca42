import { generateKeyPairSync, sign } from "node:crypto";

/** A self-signed certificate for 127.0.0.1, made anew for each test: nothing secret has to lie in a file. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(tagged(0x31, sequence(oid(COMMON_NAME), tagged(0x0c, Buffer.from("lastword test")))));
  const signedWith = sequence(oid(ECDSA_WITH_SHA256));
  const years = ["240101000000Z", "491231235959Z"].map((time) => tagged(0x17, Buffer.from(time)));
  const address = tagged(0x87, Buffer.from([127, 0, 0, 1]));
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    signedWith,
    name,
    sequence(...years),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(sequence(oid(SUBJECT_ALT_NAME), tagged(0x04, sequence(address))))),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const der = sequence(body, signedWith, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`,
  };
}

// Object identifiers, as DER has them.
const COMMON_NAME = "550403";
const SUBJECT_ALT_NAME = "551d11";
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}
