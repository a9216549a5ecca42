import { CONTENDERS } from "../contenders/contender.ts";
import { SCENARIOS } from "../scenarios.ts";
import { type Case, PLAIN, per } from "./case.ts";

function paced(streams: number, idleSeconds: number): Case {
  const { chunks, everyMs } = SCENARIOS.paced;
  const pause = idleSeconds === 0 ? "" : " after a pause";
  return {
    name: `paced-${streams}`,
    says: `${streams} streams of ${chunks} tokens, ${everyMs} ms apart, started within 40 ms${pause}`,
    only: CONTENDERS,
    idleSeconds,
    async run(stage) {
      const tally = await stage.group({
        ...PLAIN,
        model: "paced",
        stream: true,
        connections: streams,
        spreadMs: 40,
        until: { requests: streams },
      });
      return {
        "delay p50 us": tally.delay.p50,
        "delay p99 ms": tally.delay.p99 / 1000,
        "first token p50 ms": tally.firstToken.p50 / 1000,
        ...per("CPU us/chunk", tally.cpu, tally.chunks),
      };
    },
  };
}

export const STREAM_CASES: readonly Case[] = [
  {
    name: "burst",
    says: "32 connections, streams of 200 tokens as fast as they can",
    async run(stage) {
      const tally = await stage.group({
        ...PLAIN,
        model: "burst",
        stream: true,
        connections: 32,
        until: { seconds: stage.quick ? 0.5 : 3 },
      });
      return { "k chunks/s": tally.chunks / tally.seconds / 1000, ...per("CPU us/chunk", tally.cpu, tally.chunks) };
    },
  },
  paced(64, 0),
  // Connections that undici keeps for 4 s must be gone, as they are when people come back to their chats.
  paced(256, 4.5),
];
