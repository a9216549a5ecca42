import { describe, expect, test } from "vitest";
import { imageCost, mostImageTokens, sizeOf } from "../../src/budget/images.ts";

function dataUrl(mime: string, bytes: number[]): string {
  return `data:${mime};base64,${Buffer.from([...bytes, ...new Array<number>(40).fill(0)]).toString("base64")}`;
}

const big = (value: number, length: number) =>
  Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) % 256);
const little = (value: number, length: number) => big(value, length).reverse();
const ascii = (text: string) => [...Buffer.from(text, "latin1")];

const png = (width: number, height: number) =>
  dataUrl("image/png", [
    ...ascii("\x89PNG\r\n\x1a\n"),
    ...big(13, 4),
    ...ascii("IHDR"),
    ...big(width, 4),
    ...big(height, 4),
  ]);
const jpeg = (width: number, height: number) =>
  dataUrl("image/jpeg", [
    ...[0xff, 0xd8, 0xff, 0xe0, ...big(16, 2), ...ascii("JFIF\0"), ...new Array<number>(9).fill(0)],
    ...[0xff, 0xff, 0xc4, ...big(4, 2), 0, 0],
    ...[0xff, 0xc2, ...big(17, 2), 8, ...big(height, 2), ...big(width, 2)],
  ]);
const gif = (width: number, height: number) =>
  dataUrl("image/gif", [...ascii("GIF89a"), ...little(width, 2), ...little(height, 2)]);
const webp = (kind: string, rest: number[]) =>
  dataUrl("image/webp", [...ascii(`RIFF\0\0\0\0WEBP${kind}`), 0, 0, 0, 0, ...rest]);

describe("the size of a picture", () => {
  test.each([
    ["PNG", png(640, 480)],
    ["progressive JPEG behind other segments", jpeg(640, 480)],
    ["GIF", gif(640, 480)],
    ["lossy WebP", webp("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a, ...little(640, 2), ...little(480, 2)])],
    ["lossless WebP", webp("VP8L", [0x2f, ...little(639 + 479 * 0x4000, 4)])],
    ["extended WebP", webp("VP8X", [0, 0, 0, 0, ...little(639, 3), ...little(479, 3)])],
  ])("is read from the header of a %s", (_, url) => {
    expect(sizeOf(url)).toEqual({ width: 640, height: 480 });
  });

  test("is read from bare base64 too", () => {
    expect(sizeOf(png(3, 5).slice("data:image/png;base64,".length))).toEqual({ width: 3, height: 5 });
  });

  test.each([
    ["an address", "https://example.com/cat.png"],
    ["text", "data:image/png;base64,aGVsbG8gd29ybGQ="],
    ["what is not base64", "data:image/png;base64,%%%%"],
    ["a data URL without data", "data:image/png"],
    ["a size of nothing", png(0, 0)],
    [
      "a JPEG cut in its segments",
      `data:image/jpeg;base64,${Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff]).toString("base64")}`,
    ],
    ["nothing", ""],
  ])("is unknown of %s", (_, url) => {
    expect(sizeOf(url)).toBeNull();
  });
});

describe("what a picture costs", () => {
  test.each([
    ["gpt-4o", "high", 1024, 1024, 765],
    ["gpt-4o", "high", 2048, 4096, 1105],
    ["gpt-4o", "auto", 512, 512, 255],
    ["gpt-4o", "low", 4096, 4096, 85],
    ["gpt-4o-mini", "high", 1024, 1024, 2833 + 4 * 5667],
    ["openai/o3", "high", 1024, 1024, 75 + 4 * 150],
    ["gpt-4.1-mini", "high", 1024, 1024, Math.ceil(1024 * 1.62)],
    ["gpt-4.1-mini", "low", 9000, 9000, Math.ceil(1536 * 1.62)],
    ["google/gemma-3-12b", "high", 50, 5000, 260],
    ["qwen2.5-vl-7b-instruct", "high", 280, 280, 100],
  ] as const)("%s, %s detail, %d x %d", (model, detail, width, height, tokens) => {
    const cost = imageCost(png(width, height), detail, model);
    expect(cost.tokens).toBe(tokens);
    expect(cost.bound).toBeLessThanOrEqual(Math.ceil(tokens * 0.1) + 4);
    expect(cost.tokens).toBeLessThanOrEqual(mostImageTokens(model));
  });

  test("of an address is a guess whose bound says so", () => {
    const { tokens, bound } = imageCost("https://example.com/cat.png", "auto", "gpt-4o");
    expect(tokens).toBe(765);
    expect(tokens + bound).toBeGreaterThanOrEqual(85 + 8 * 170);
  });

  test("of an unknown model is a bounded figure", () => {
    expect(imageCost(png(8000, 8000), "high", "m").tokens).toBe(1105);
  });
});
