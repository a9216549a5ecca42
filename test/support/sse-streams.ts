import fc from "fast-check";

/** Streams of events as servers and their mishaps make them: all line ends, comments, odd fields, text in many scripts, no end. */
export const streams: fc.Arbitrary<Buffer> = (() => {
  const text = fc.oneof(
    fc.constantFrom("", " ", "x", '{"a":1}', "[DONE]", ": not a comment", "北京🌍é", "data: inside", "\u0000"),
    fc.string({ unit: "grapheme", maxLength: 12 }).map((string) => string.replace(/[\r\n]/g, "")),
  );
  const field = fc.constantFrom(
    "data:",
    "data: ",
    "data",
    "event: ",
    "event:",
    "id: ",
    "retry: ",
    ":",
    ": ",
    "datax: ",
    "",
  );
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(field, text).map((parts) => parts.join("")) },
    { weight: 2, arbitrary: fc.constant("") },
  );
  const ending = fc.constantFrom("\n", "\r\n", "\r");
  const lines = fc.array(fc.tuple(line, ending), { maxLength: 30 });
  return fc
    .tuple(fc.constantFrom("", "\uFEFF"), lines, fc.constantFrom("", "data: la", "\r"))
    .map(([start, body, end]) => Buffer.from(start + body.map((parts) => parts.join("")).join("") + end));
})();

/** The bytes in pieces of these lengths, the rest at the end. */
export function cutAt(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
}
