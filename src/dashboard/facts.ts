import { policyFor } from "../config/policy.ts";
import type { Ask } from "../core/ask.ts";
import { waysOf } from "../recovery/decide.ts";
import { rendersRaw } from "../recovery/raw/resume.ts";
import type { Services } from "../services.ts";
import type { Server } from "../upstream/server.ts";
import { chat } from "../wire/chat/chat.ts";
import type { Continuation, ModelLine, UpstreamLine } from "./update.ts";

/** `reach`: by upstream, why it does not answer, or null; absent: not asked yet. */
export function upstreamLines(services: Services, reach: ReadonlyMap<string, string | null>): UpstreamLine[] {
  return services.servers().map((server) => {
    const unready = reach.get(server.name);
    return {
      name: server.name,
      place: server.place,
      dialect: server.dialectNow.name,
      ...(unready === undefined ? {} : { unready }),
    };
  });
}

/** Every listed model with what is known of it now. Asks nobody. */
export function modelLines(services: Services): ModelLine[] {
  return services.servers().flatMap((server) =>
    services.windows.all([server]).map(({ model }) => {
      const policy = policyFor(services.config(), model);
      const known = services.windows.now(server, model, policy);
      return {
        upstream: server.name,
        model,
        window: known.window,
        source: known.source,
        maxOutput: known.maxOutput,
        reasoning: known.reasoning,
        continuation: continuationOf(services, server, model, policy.continue),
      };
    }),
  );
}

function continuationOf(
  services: Services,
  server: Server,
  model: string,
  setting: Parameters<typeof waysOf>[0],
): Continuation {
  const dialect = server.dialectNow;
  const ask = plainAsk(model);
  const resume = dialect.resume(chat.name, model, ask);
  const seen = Object.values(services.knowledge.of(server.name, model).resumes);
  const found = seen.includes("works") ? "works" : (seen[0] ?? null);
  const prefill = resume !== null && (found === null || found === "works");
  const way = waysOf(setting, { prefill, raw: rendersRaw({ dialect, wire: chat, ask }) })[0] ?? "never";
  if (setting !== "auto") return { way, known: "config" };
  if (resume === null) return { way, known: "only" };
  if (found !== null) return { way, known: "seen" };
  return { way, known: resume.sure ? "documented" : "untried" };
}

/** What dialects are asked about: a chat without tools, format or thinking. */
function plainAsk(model: string): Ask {
  return chat.read({ model, messages: [{ role: "user", content: "" }] });
}
