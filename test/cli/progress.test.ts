import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { progress } from "../../src/cli/progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

class Line {
  readonly isTTY: boolean;
  text = "";
  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }
  write(text: string) {
    this.text += text;
  }
}

test("quick work says nothing", () => {
  const line = new Line(true);
  const doing = progress(line);
  doing.step("asking up");
  vi.advanceTimersByTime(999);
  doing.done();
  vi.advanceTimersByTime(5000);
  expect(line.text).toBe("");
});

test("slow work says what goes on and for how long, and takes it away again", () => {
  const line = new Line(true);
  const doing = progress(line);
  doing.step("asking up");
  vi.advanceTimersByTime(2000);
  expect(line.text).toBe("\r\x1b[Kasking up (1 s)\r\x1b[Kasking up (2 s)");
  line.text = "";
  doing.step("waiting for m");
  expect(line.text).toBe("\r\x1b[Kwaiting for m (2 s)");
  line.text = "";
  doing.say("a line that stays");
  expect(line.text).toBe("\r\x1b[Ka line that stays\n");
  line.text = "";
  doing.done();
  expect(line.text).toBe("\r\x1b[K");
});

test("elsewhere than on a terminal only what is to stay is written", () => {
  const line = new Line(false);
  const doing = progress(line);
  doing.step("asking up");
  vi.advanceTimersByTime(5000);
  doing.say("a line that stays");
  doing.done();
  expect(line.text).toBe("a line that stays\n");
});
