import type { IncomingMessage, ServerResponse } from "node:http";
import { type Asset, asset } from "./assets.ts";

const TYPES: Readonly<Record<Asset, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
};

/** The page loads its own script and style, and talks to its own origin: nothing else runs, is shown or is asked. */
const SAFE = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
} as const;

/** A browser that opens the dashboard: a person, who can be asked for a key. */
export function isVisit(path: string, { method, headers }: IncomingMessage): boolean {
  return method === "GET" && path === "/" && headers.accept?.includes("text/html") === true;
}

/** `status`: 401 where a key is needed and none was sent. The page is the same: it holds nothing of anybody's, and asks for the key. */
export function sendPage(response: ServerResponse, status: 200 | 401): Promise<void> {
  return sendAsset(response, status, "index.html");
}

/** One of the page's files. */
export async function sendAsset(response: ServerResponse, status: number, name: Asset): Promise<void> {
  const text = await asset(name);
  response.writeHead(status, { ...SAFE, "content-type": TYPES[name], "content-length": Buffer.byteLength(text) });
  response.end(text);
}
