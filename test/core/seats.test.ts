import { expect, test } from "vitest";
import { Seats } from "../../src/core/seats.ts";

test("a seat that was left is taken by the next", () => {
  const seats = new Seats<string>();
  const leaveA = seats.take("a");
  seats.take("b");
  leaveA();
  expect(seats.size).toBe(1);
  expect(seats.all()).toEqual(["b"]);
  const leaveC = seats.take("c");
  seats.take("d");
  expect(seats.all().sort()).toEqual(["b", "c", "d"]);
  leaveC();
  expect(seats.all().sort()).toEqual(["b", "d"]);
});
