import { afterEach, describe, expect, test } from "vitest";
import { Validator } from "../../src/schema/validator.ts";

const schema = { type: "object", required: ["a"] };
const bomb = { properties: { a: { pattern: "^(a+)+$" } } };
const victim = JSON.stringify({ a: `${"a".repeat(40)}!` });

const open: Validator[] = [];
function validator(options?: ConstructorParameters<typeof Validator>[0]): Validator {
  const fresh = new Validator(options);
  open.push(fresh);
  return fresh;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

describe("Validator", () => {
  test("it tells valid, invalid and unknown", async () => {
    const { validate } = validator({ limitMs: 5_000 });
    expect(await validate(schema, '{"a":1}')).toBe("valid");
    expect(await validate(schema, "{}")).toBe("invalid");
    expect(await validate({ type: "text" }, "{}")).toBe("unknown");
    expect(await validate(undefined, "{}")).toBe("valid");
  });

  test("answers come to those who asked, in whatever number", async () => {
    const { validate } = validator({ limitMs: 5_000, patienceMs: 10_000 });
    const asked = Array.from({ length: 200 }, (_, n) => validate({ const: n % 3 }, String(n % 2)));
    const answers = await Promise.all(asked);
    expect(answers).toEqual(answers.map((_, n) => (n % 3 === n % 2 ? "valid" : "invalid")));
  });

  test("a pattern that would take ages is given up, and those behind it are served", async () => {
    const { validate } = validator({ limitMs: 250, patienceMs: 10_000 });
    const [hostile, honest] = await Promise.all([validate(bomb, victim), validate(schema, '{"a":1}')]);
    expect(hostile).toBe("unknown");
    expect(honest).toBe("valid");
  });

  test("the event loop runs on meanwhile", async () => {
    const { validate } = validator({ limitMs: 250 });
    await validate(schema, "{}");
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    await validate(bomb, victim);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(5);
  });

  test("one that waited too long behind others is given up", async () => {
    const { validate } = validator({ limitMs: 250, patienceMs: 100 });
    await validate(schema, "{}");
    const [, late] = await Promise.all([validate(bomb, victim), validate(schema, '{"a":1}')]);
    expect(late).toBe("unknown");
  });

  test("a text that fills the memory ends its thread, not the process", async () => {
    const { validate } = validator({ limitMs: 10_000 });
    expect(await validate({ minItems: 1 }, `[${"{},".repeat(2_700_000)}{}]`)).toBe("unknown");
    expect(await validate(schema, '{"a":1}')).toBe("valid");
  });

  test("beyond bounds nothing is run", async () => {
    const { validate } = validator();
    expect(await validate({ description: "a".repeat(600_000) }, "{}")).toBe("unknown");
    expect(await validate(schema, `"${"a".repeat(9_000_000)}"`)).toBe("unknown");
  });

  test("closed, it starts anew when asked", async () => {
    const fresh = validator({ limitMs: 5_000 });
    expect(await fresh.validate(schema, "{}")).toBe("invalid");
    await fresh.close();
    expect(await fresh.validate(schema, "{}")).toBe("invalid");
  });
});
