import { type Finding, finding } from "./finding.ts";

/** Seconds: more than this and dates in headers (`Retry-After`) and certificates go wrong. */
const MOST_SKEW = 300;

const SET: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "sudo sntp -sS time.apple.com",
  win32: "w32tm /resync",
};

/** @param skew the upstream's clock less ours, in seconds; null: not told */
export function clockFinding(upstream: string, skew: number | null, platform: NodeJS.Platform): Finding | null {
  if (skew === null || Math.abs(skew) <= MOST_SKEW) return null;
  const minutes = Math.round(Math.abs(skew) / 60);
  const way = skew > 0 ? "ahead of" : "behind";
  const says = `Its clock is ${minutes} min ${way} the one here: one of the two is wrong, and waits that it asks for as a date go wrong with it.`;
  return finding("clock_skew", upstream, says, SET[platform] ?? "sudo timedatectl set-ntp true");
}
