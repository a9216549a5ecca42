import type { Knock } from "../check/reach.ts";
import { parseJson } from "../core/json.ts";
import type { Server } from "../upstream/server.ts";

/** Longer than any server that is well takes for its list. */
const PATIENCE_SECONDS = 10;
/** Bytes; the longest list of a known service has about one million. */
const MOST_BYTES = 32 * 1024 * 1024;

/** An answer to the model list, told in full: a `Query` keeps the reasons of a failure to itself. */
interface Knocked {
  readonly knock: Knock;
  readonly ms: number;
  /** The server's clock less ours, in seconds; null: not told. */
  readonly skew: number | null;
}

/** Asks for the model list. `authorization`: null for none. */
export function knockAt(server: Server, authorization: string | null): Promise<Knocked> {
  const began = performance.now();
  return new Promise((resolve) => {
    let head: { status: number; type: string; location: string | null; skew: number | null } | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (knock: Knock) => {
      clearTimeout(timer);
      resolve({ knock, ms: Math.round(performance.now() - began), skew: head?.skew ?? null });
    };
    const timer = setTimeout(() => {
      call.abort();
      settle({ kind: "silent", seconds: PATIENCE_SECONDS });
    }, PATIENCE_SECONDS * 1000);
    const headers = { accept: "application/json", ...(authorization === null ? {} : { authorization }) };
    const call = server.call("GET", `${server.v1}/models`, headers, null, {
      head(status, told) {
        const { "content-type": type, location, date } = told;
        head = { status, type: String(type ?? ""), location: redirectOf(status, location, server), skew: skewOf(date) };
      },
      data(chunk) {
        size += chunk.length;
        if (size <= MOST_BYTES) chunks.push(chunk);
      },
      end() {
        const json = parseJson(Buffer.concat(chunks).toString("utf8"));
        const html = head?.type.startsWith("text/html") === true;
        settle({ kind: "answer", status: head?.status ?? 0, location: head?.location ?? null, json, html });
      },
      lost: ({ code }) => settle({ kind: "lost", code }),
    });
  });
}

/** Where a redirect leads, without credentials and query. */
function redirectOf(status: number, location: string | string[] | undefined, { base }: Server): string | null {
  const to = String(location ?? "");
  if (status < 300 || status > 399 || to === "" || !URL.canParse(to, base.href)) return null;
  const { origin, pathname } = new URL(to, base);
  return origin + pathname;
}

function skewOf(date: string | string[] | undefined): number | null {
  const told = Date.parse(String(date));
  return Number.isNaN(told) ? null : Math.round((told - Date.now()) / 1000);
}
