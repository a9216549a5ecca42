import { describe, expect, test } from "vitest";
import { maskUrl } from "../../src/config/secrets.ts";
import { resolveUpstream, urlProblem } from "../../src/config/upstream.ts";

const resolve = (url: string) => resolveUpstream({ name: "a", url, dialect: "auto", key: "" });

describe("a base URL", () => {
  test.each([
    ["http://h:1", "http://h:1/v1"],
    ["http://h:1/", "http://h:1/v1"],
    ["http://h:1/v1", "http://h:1/v1"],
    ["http://h:1/v1/", "http://h:1/v1"],
    ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"],
    ["https://h/api", "https://h/api/v1"],
    ["https://h/v1beta/openai", "https://h/v1beta/openai"],
    ["https://h/api/paas/v4", "https://h/api/paas/v4"],
    ["https://h/vault", "https://h/vault/v1"],
    ["https://h/my-v1", "https://h/my-v1/v1"],
    ["http://[::1]:8080", "http://[::1]:8080/v1"],
  ])("%s becomes %s", (given, base) => {
    expect(urlProblem(given)).toBeNull();
    expect(resolve(given).url).toBe(base);
  });

  test("B91: credentials and query are set apart, so that the URL can be shown", () => {
    const upstream = resolve("http://us%40er:can%3Aary@host/p?key=canary");
    expect(upstream).toMatchObject({ url: "http://host/p/v1", query: "?key=canary" });
    expect(Buffer.from(upstream.basic, "base64").toString()).toBe("us@er:can:ary");
  });

  test.each(["localhost:1234/v1", "h:8080", "192.168.0.4:1234"])(
    "%s lacks a scheme, and the answer offers one",
    (given) => {
      expect(urlProblem(given)?.nearest).toBe(`http://${given}`);
    },
  );

  test.each(["ftp://h", "", "http://", "http://u:%zz@h", "file:///etc", "not a url"])("%s is refused", (given) => {
    expect(urlProblem(given)).not.toBeNull();
  });

  test("an endpoint's own path is one too many", () => {
    expect(urlProblem("http://h/v1/chat/completions")?.nearest).toBe("http://h/v1");
    expect(urlProblem("http://h/models/v1")).toBeNull();
  });
});

test.each([
  ["http://user:canary@h/p", "http://***@h/p"],
  ["http://h/p?key=canary#canary", "http://h/p?***"],
  ["http://u:ca@nary@h", "http://***@h"],
  ["http://u:can?ary@h/", "http://***@h/"],
  ["u:canary@h", "***@h"],
  ["redis://:canary@h:6379/0", "redis://***@h:6379/0"],
  ["http://h/v1", "http://h/v1"],
])("%s is shown as %s", (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});
