import { expect, test } from "vitest";
import { clockFinding } from "../../src/check/clock.ts";

test("five minutes are borne, either way", () => {
  for (const skew of [null, 0, 300, -300]) expect(clockFinding("up", skew, "linux")).toBeNull();
});

test("which way it is off, and how clocks are set here", () => {
  expect(clockFinding("up", 600, "linux")).toMatchObject({
    says: expect.stringContaining("10 min ahead of"),
    fix: "sudo timedatectl set-ntp true",
  });
  expect(clockFinding("up", -301, "win32")).toMatchObject({
    says: expect.stringContaining("5 min behind"),
    fix: "w32tm /resync",
  });
  expect(clockFinding("up", 900, "darwin")?.fix).toBe("sudo sntp -sS time.apple.com");
});
