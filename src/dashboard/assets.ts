import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The page's files by name, as `npm run build` makes them. */
export const ASSETS = ["index.html", "page.js", "page.css"] as const;
export type Asset = (typeof ASSETS)[number];

let loading: Promise<Readonly<Record<Asset, string>>> | null = null;

/** The text of one of the page's files; read once. */
export async function asset(name: Asset): Promise<string> {
  loading ??= import.meta.url.endsWith(".ts") ? fromSource() : fromBuild();
  return (await loading)[name];
}

async function fromBuild(): Promise<Record<Asset, string>> {
  const texts = ASSETS.map((name) => readFile(new URL(`./dashboard/${name}`, import.meta.url), "utf8"));
  return named(await Promise.all(texts));
}

/** Browsers run no TypeScript, so from source (tests, benches) the page is bundled in memory first. */
async function fromSource(): Promise<Record<Asset, string>> {
  const { build } = await import("esbuild");
  const folder = new URL("./page/", import.meta.url);
  const { outputFiles } = await build({
    entryPoints: ["page.ts", "page.css"].map((name) => fileURLToPath(new URL(name, folder))),
    bundle: true,
    write: false,
    outdir: "/",
    logLevel: "error",
  });
  const built = (name: string) => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? "";
  return named([await readFile(new URL("index.html", folder), "utf8"), built("page.js"), built("page.css")]);
}

function named(texts: readonly string[]): Record<Asset, string> {
  return Object.fromEntries(ASSETS.map((name, at) => [name, texts[at] ?? ""])) as Record<Asset, string>;
}
