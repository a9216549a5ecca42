import { describe, expect, test } from "vitest";
import { lmstudio } from "../../src/upstream/lmstudio/index.ts";
import { answering, ask, modelsOf, windowFor } from "./answers.ts";
import { lmModel, lmOlder, lmUnknown } from "./shapes.ts";

const NAMES = { object: "list", data: [{ id: "m", object: "model", owned_by: "organization_owner" }] };

describe("windows", () => {
  test("B13: the loaded size, never the trained maximum (0.3)", async () => {
    const found = await lmstudio.discover(answering({ "GET root /api/v0/models": lmOlder }, lmUnknown).query);
    expect(modelsOf(found)[1]).toEqual({
      names: ["m"],
      window: 8_192,
      source: "loaded",
      trained: 262_144,
      maxOutput: null,
      maxInput: null,
      reasoning: null,
      provisional: false,
      anyName: false,
      doubtful: true,
    });
  });

  test("B14: not loaded is unknown and provisional, with the maximum as an upper bound only", async () => {
    const [older] = modelsOf(
      await lmstudio.discover(answering({ "GET root /api/v0/models": lmOlder }, lmUnknown).query),
    );
    expect(older).toMatchObject({ window: null, source: "trained", trained: 32_768, provisional: true });
    const native = { "GET root /api/v1/models": { models: [lmModel("m", {}, 262_144)] } };
    const [newer] = modelsOf(await lmstudio.discover(answering(native, lmUnknown).query));
    expect(newer).toMatchObject({ window: null, source: "trained", trained: 262_144, provisional: true });
  });

  test("B16: the loaded instance's own size, before what the older list says", async () => {
    const server = answering(
      {
        "GET v1 /models": NAMES,
        "GET root /api/v1/models": { models: [lmModel("m", { m: 40_000 }, 183_296)] },
        "GET root /api/v0/models": { data: [{ id: "m", state: "loaded", max_context_length: 183_296 }] },
      },
      lmUnknown,
    );
    expect(windowFor(await lmstudio.discover(server.query), "m")).toBe(40_000);
    expect(server.asked).toHaveLength(1);
  });

  test("B16: of two instances the one that is addressed by its id", async () => {
    const native = { "GET root /api/v1/models": { models: [lmModel("m", { m: 40_000, "m:2": 16_000 })] } };
    const found = await lmstudio.discover(answering(native, lmUnknown).query);
    expect(windowFor(found, "m")).toBe(40_000);
    expect(windowFor(found, "m:2")).toBe(16_000);
  });

  test("B16: of two instances that the key does not tell apart, the smaller", async () => {
    const native = { "GET root /api/v1/models": { models: [lmModel("m", { long: 40_000, short: 16_000 })] } };
    const found = await lmstudio.discover(answering(native, lmUnknown).query);
    expect(windowFor(found, "m")).toBe(16_000);
    expect(windowFor(found, "long")).toBe(40_000);
    expect(windowFor(found, "short")).toBe(16_000);
  });

  test("an instance under a name of its own also answers to its model's key", async () => {
    const native = { "GET root /api/v1/models": { models: [lmModel("acme/m", { mine: 9_000 })] } };
    const found = await lmstudio.discover(answering(native, lmUnknown).query);
    expect(modelsOf(found)).toHaveLength(1);
    expect([windowFor(found, "mine"), windowFor(found, "acme/m")]).toEqual([9_000, 9_000]);
  });

  test("B15: a loaded size of 0 is no size", async () => {
    const native = { "GET root /api/v1/models": { models: [lmModel("m", { m: 0 })] } };
    expect(windowFor(await lmstudio.discover(answering(native, lmUnknown).query), "m")).toBeNull();
  });

  test("neither native list: names without sizes", async () => {
    const found = await lmstudio.discover(answering({ "GET v1 /models": NAMES }, lmUnknown).query);
    expect(modelsOf(found)).toMatchObject([{ names: ["m"], window: null, source: "unknown", provisional: true }]);
  });

  test("a key is needed, or nobody answers", async () => {
    expect(await lmstudio.discover(answering({}, () => 401).query)).toEqual({ refused: 401 });
    expect(await lmstudio.discover(answering({}).query)).toBeNull();
  });

  test("thinks by default, or only when told to", async () => {
    const model = (value: string) =>
      lmModel(value, {}, 1, { reasoning: { allowed_options: ["off", "on"], default: value } });
    const native = { "GET root /api/v1/models": { models: [model("on"), model("off"), lmModel("m", {})] } };
    const models = modelsOf(await lmstudio.discover(answering(native, lmUnknown).query));
    expect(models.map((each) => each.reasoning)).toEqual([true, false, null]);
  });
});

describe("requests", () => {
  test("edge 98: the client's own cap field stays; n_predict is nobody's here", () => {
    expect(lmstudio.capField("chat", "max_completion_tokens", "m")).toBe("max_completion_tokens");
    expect(lmstudio.capField("chat", "n_predict", "m")).toBe("max_tokens");
    expect(lmstudio.capField("responses", "n_predict", "m")).toBe("max_output_tokens");
    expect(lmstudio.unlimitedCap).toBe(true);
  });

  test("a trailing message is tried and found out, without flags; a raw prompt simply goes on", () => {
    for (const wire of ["chat", "responses", "messages"] as const)
      expect(lmstudio.resume(wire, "m", ask(wire))).toMatchObject({ set: {}, mark: {}, sure: false, thoughts: false });
    expect(lmstudio.resume("completions", "m", ask("completions"))).toMatchObject({ set: {}, sure: true });
  });

  test("less thinking, a step at a time, and none", () => {
    const lower = (body: object) => lmstudio.effort("chat", "m", { ...body }, "lower");
    expect(lower({})).toEqual({ reasoning_effort: "low" });
    expect(lower({ reasoning_effort: "low" })).toEqual({ reasoning_effort: "none" });
    expect(lower({ reasoning_effort: "none" })).toBeNull();
    expect(lmstudio.effort("chat", "m", { reasoning_effort: "high" }, "off")).toEqual({ reasoning_effort: "none" });
    expect(lmstudio.effort("responses", "m", { reasoning: { effort: "high" } }, "lower")).toEqual({
      reasoning: { effort: "medium" },
    });
  });

  test("the fix is one line that can be pasted, whatever the model is called", () => {
    expect(lmstudio.widen("qwen/qwen3-8b")).toBe(
      "lms unload qwen/qwen3-8b && lms load qwen/qwen3-8b --context-length 32768",
    );
    for (const name of ["m; rm -rf ~", "$(id)", "a\nb", "`id`", "", "-x", "a b"])
      expect(lmstudio.widen(name)).toBe("lms unload MODEL && lms load MODEL --context-length 32768");
  });
});
