import { expect, test } from "vitest";
import { createBus } from "../../src/events/bus.ts";
import { finished } from "./samples.ts";

test("every subscriber hears every event at once, in order", () => {
  const heard: string[] = [];
  const bus = createBus(() => {});
  bus.subscribe(() => heard.push("a"));
  bus.subscribe(() => heard.push("b"));
  bus.emit(finished());
  expect(heard).toEqual(["a", "b"]);
});

test("a subscriber that throws is told of and disturbs nobody", () => {
  const faults: unknown[] = [];
  const heard: string[] = [];
  const bus = createBus((error) => faults.push(error));
  bus.subscribe(() => {
    throw new Error("broken");
  });
  bus.subscribe((event) => heard.push(event.type));
  bus.emit(finished());
  expect(heard).toEqual(["finished"]);
  expect(faults).toEqual([new Error("broken")]);
});

test("an end of subscription takes hold at the next event, also from within one", () => {
  const heard: string[] = [];
  const bus = createBus(() => {});
  const end = bus.subscribe(() => {
    heard.push("a");
    end();
  });
  bus.subscribe(() => heard.push("b"));
  bus.emit(finished());
  bus.emit(finished());
  expect(heard).toEqual(["a", "b", "b"]);
});
