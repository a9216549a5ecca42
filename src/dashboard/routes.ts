import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import type { Services } from "../services.ts";
import { feed } from "./feed.ts";
import { sendAsset, sendPage } from "./send.ts";

/** The page at `/`, its files, and the feed that it listens to. `stopping` ends every feed. */
export function dashboard(app: Hono<{ Bindings: HttpBindings }>, services: Services, stopping: AbortSignal): void {
  app.get("/", async (c) => {
    await sendPage(c.env.outgoing, 200);
    return RESPONSE_ALREADY_SENT;
  });
  for (const name of ["page.js", "page.css"] as const) {
    app.get(`/dashboard/${name}`, async (c) => {
      await sendAsset(c.env.outgoing, 200, name);
      return RESPONSE_ALREADY_SENT;
    });
  }
  app.get("/dashboard/events", async (c) => {
    await feed(services, c.env.outgoing, stopping);
    return RESPONSE_ALREADY_SENT;
  });
}
