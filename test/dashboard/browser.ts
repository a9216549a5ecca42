import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** false: there is no browser here, and what needs one is skipped and counted. */
export const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) console.warn(`SKIPPED: no browser at ${CHROMIUM} (apt-get install chromium, or set CHROMIUM)`);

export interface Look {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
}

export interface Browser extends AsyncDisposable {
  /** A new tab of its own session. What the page complains of (errors, refused scripts) is kept in `complaints`. */
  visit(url: string, look?: Look): Promise<Page>;
  readonly complaints: string[];
}

/** A real Chromium that makes no connection but those of the pages it is shown. */
export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "lastword-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const complaints: string[] = [];
  return {
    complaints,
    visit: (url, look = {}) => visit(context, complaints, url, look),
    async [Symbol.asyncDispose]() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

async function visit(context: BrowserContext, complaints: string[], url: string, look: Look): Promise<Page> {
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.emulateMedia({ colorScheme: look.dark === true ? "dark" : "light" });
  await page.setViewportSize({ width: look.width ?? 1280, height: look.height ?? 900 });
  await page.goto(url);
  return page;
}
