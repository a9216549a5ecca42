import { describe, expect, test } from "vitest";
import { evidenceOf, faultOf } from "../../src/upstream/fault.ts";

const read = (status: number, body: unknown) => faultOf(status, typeof body === "string" ? body : JSON.stringify(body));

describe("an error as it came over HTTP", () => {
  test.each([
    ["an object", { error: { message: "no", type: "t", code: "c" } }, "no", "t", "c"],
    ["B4: a string", { error: "no" }, "no", null, null],
    ["flat", { object: "error", message: "no", type: "BadRequestError", code: 400 }, "no", "BadRequestError", "400"],
    ["an array", [{ error: { code: 400, message: "no", status: "INVALID_ARGUMENT" } }], "no", null, "400"],
    ["FastAPI's sentence", { detail: "no" }, "no", null, null],
    ["pydantic's list", { detail: [{ loc: ["body", "x"], msg: "no", type: "t" }] }, "body.x: no", null, null],
    ["nothing", {}, "", null, null],
  ])("%s", (_name, body, message, type, code) => {
    expect(read(400, body)).toEqual({ status: 400, message, type, code, body });
  });

  test("B72: a page: its title; other text: its beginning", () => {
    expect(read(413, "<html><head><title>413 Request\n Entity Too Large</title></head></html>")).toMatchObject({
      status: 413,
      message: "413 Request Entity Too Large",
    });
    expect(read(404, "404 page not found\n").message).toBe("404 page not found");
    expect(read(500, `<p>${"x".repeat(5000)}`).message).toHaveLength(300);
    expect(read(502, "").message).toBe("");
  });

  test("blank lines before the JSON (DeepSeek)", () => {
    expect(read(400, '\n\n\n{"error":{"message":"no"}}\n').message).toBe("no");
  });

  test("a status that the body names counts only where HTTP named none", () => {
    const body = { error: { code: 429, message: "no" } };
    expect(read(200, body).status).toBe(429);
    expect(read(503, body).status).toBe(503);
    expect(read(200, { error: { code: 7, message: "no" } }).status).toBe(200);
  });

  test("an endless body is not an error message", () => {
    const body = JSON.stringify({ error: { message: "x".repeat(17_000_000) } });
    expect(read(400, body).message.length).toBeLessThanOrEqual(300);
  });
});

describe("evidence", () => {
  test("every place is read, the outermost first, codes beside it", () => {
    const raw = JSON.stringify({ error: { message: "inner", code: "context_length_exceeded" } });
    const said = evidenceOf(
      read(400, {
        error: { code: 400, message: "outer", metadata: { raw, error_type: "unmapped" } },
        error_type: "invalid_prompt",
      }),
    );
    expect(said.texts).toEqual(["outer", "outer", "inner"]);
    expect(said.codes).toEqual(expect.arrayContaining(["invalid_prompt", "unmapped", "context_length_exceeded"]));
  });

  test("what is nested or repeated without end is read no further than it pays", () => {
    let deep: unknown = { error: { message: "bottom" } };
    for (let i = 0; i < 50; i++) deep = { error: deep };
    expect(evidenceOf({ status: 400, message: "", type: null, code: null, body: deep }).texts).toEqual([""]);
    const many = { detail: Array.from({ length: 1000 }, (_, i) => ({ msg: `no ${i}` })) };
    expect(evidenceOf({ status: 400, message: "", type: null, code: null, body: many }).texts.length).toBeLessThan(20);
  });
});
