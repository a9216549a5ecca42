import { expect, test } from "vitest";
import { resolveUpstream } from "../../src/config/upstream.ts";
import { secretsOf, withoutSecrets } from "../../src/upstream/quoted.ts";

const of = (url: string, key = "") => secretsOf(resolveUpstream({ name: "up", url, dialect: "auto", key }));

test("whatever an upstream was given is hidden where it is quoted, in whatever form", () => {
  const secrets = of("https://user:pass%2Fword@example.org/v1?key=k%20q1234&n=1", 'sk-"quoted"');
  const basic = Buffer.from("user:pass/word").toString("base64");
  for (const said of [
    'bad key sk-"quoted"',
    JSON.stringify({ error: 'bad key sk-"quoted"' }),
    `Authorization: Basic ${basic}`,
    "no such password: pass/word",
    "GET /v1/models?key=k%20q1234&n=1",
    "key=k+q1234: k q1234",
  ]) {
    const told = withoutSecrets(said, secrets);
    expect(told).toContain("***");
    expect(told).not.toMatch(/quoted|pass\/|q1234&|k q1234/);
    expect(told).not.toContain(basic);
  }
});

test("where nothing was given nothing is hidden, and short words are no secrets", () => {
  expect(of("http://127.0.0.1:1/v1")).toEqual([]);
  expect(of("http://127.0.0.1:1/v1", "abc")).toEqual([]);
  expect(withoutSecrets("a text", [])).toBe("a text");
});
