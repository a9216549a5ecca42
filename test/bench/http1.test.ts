import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyReader, endOfHead, framingOf } from "../../bench/http1.ts";

const read = (framing: number | "chunked", pieces: readonly Buffer[]) => {
  const reader = new BodyReader().begin(framing);
  const heard: Buffer[] = [];
  let left = 0;
  for (const piece of pieces) {
    const end = reader.read(piece, 0, (bytes, start, stop) => heard.push(bytes.subarray(start, stop)));
    left += piece.length - end;
  }
  return { text: Buffer.concat(heard).toString(), ended: reader.ended, left };
};

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...[...new Set(cuts)].sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe("the bench's HTTP", () => {
  test("a head says how its body is framed", () => {
    expect(framingOf("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n")).toBe(17);
    expect(framingOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")).toBe("chunked");
    expect(framingOf("GET / HTTP/1.1\r\nhost: x\r\n\r\n")).toBe(0);
    expect(endOfHead(Buffer.from("GET / HTTP/1.1\r\n\r\nrest"), 0)).toBe(18);
    expect(endOfHead(Buffer.from("GET / HTTP/1.1\r\n"), 0)).toBe(-1);
  });

  test("a body in chunks is the same however it is cut, and what follows it is left", () => {
    const texts = fc.array(fc.string({ minLength: 1 }), { maxLength: 6 });
    fc.assert(
      fc.property(texts, fc.array(fc.nat(400)), (chunks, cuts) => {
        const framed = chunks.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join("");
        const bytes = Buffer.from(`${framed}0\r\n\r\n`);
        const pieces = split(
          bytes,
          cuts.filter((cut) => cut < bytes.length),
        );
        expect(read("chunked", pieces)).toEqual({ text: chunks.join(""), ended: true, left: 0 });
      }),
    );
  });

  test("a body with a length ends there", () => {
    expect(read(5, [Buffer.from("he"), Buffer.from("lloHTTP")])).toEqual({ text: "hello", ended: true, left: 4 });
    expect(read(5, [Buffer.from("he")])).toEqual({ text: "he", ended: false, left: 0 });
  });
});
