import fc from "fast-check";
import { expect, it } from "vitest";
import { Secret } from "../../src/state/cipher.ts";
import { decode, encode } from "../../src/state/entry.ts";

const secret = new Secret("one");

it("what was sealed is opened by whoever knows the secret, at its place in its stream alone", () => {
  const same = new Secret("one").sealFor("s");
  const other = new Secret("two").sealFor("s");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(9), (bytes, n) => {
      const plain = Buffer.from(bytes);
      const sealed = secret.sealFor("s").close(n, plain);
      expect(same.open(n, sealed)).toEqual(plain);
      expect(same.open(n + 1, sealed)).toBeNull();
      expect(other.open(n, sealed)).toBeNull();
      expect(secret.sealFor("t").open(n, sealed)).toBeNull();
    }),
    { numRuns: 50 },
  );
});

it("a changed or shortened entry is not opened", () => {
  const seal = secret.sealFor("s");
  const sealed = seal.close(0, Buffer.from("text"));
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((changed.readUInt8(at) + 1) % 256, at);
    expect(seal.open(0, changed)).toBeNull();
    expect(seal.open(0, sealed.subarray(0, at))).toBeNull();
  }
});

it("names tell parts apart, and depend on the secret", () => {
  expect(secret.name("ab", "c")).not.toBe(secret.name("a", "bc"));
  expect(secret.name("a")).toBe(new Secret("one").name("a"));
  expect(secret.name("a")).not.toBe(new Secret("two").name("a"));
});

it("entries are read back as they were written, and nothing else is read", () => {
  const entries = [
    { kind: "head", status: 200, headers: { "content-type": "text/event-stream" } },
    { kind: "bytes", bytes: Buffer.from([0, 255, 10]) },
    { kind: "end", end: { outcome: "complete", cause: null, code: null } },
  ] as const;
  for (const entry of entries) expect(decode(encode(entry))).toEqual(entry);
  for (const odd of ["", "x", "h{}", "e[]", "e"]) expect(decode(Buffer.from(odd))).toBeNull();
});
