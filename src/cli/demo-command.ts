import { problemText } from "../config/problem.ts";
import { NO_FILE, resolveConfig } from "../config/resolve.ts";
import type { Flags } from "../config/settings.ts";
import { stderrSink } from "../events/sinks.ts";
import { demo } from "./demo.ts";
import { startApp } from "./serve.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `lastword demo`: the demo in front of this very proxy, quiet but for what it shows. @returns the exit code */
export async function demoCommand(
  { keep, nudge, flags }: { readonly keep: boolean; readonly nudge: boolean; readonly flags: Flags },
  env: Environment,
): Promise<number> {
  const sink = stderrSink();
  const startProxy = async (upstreamUrl: string) => {
    const demoFlags = { "log-level": "warn", port: "0", ...flags, upstream: upstreamUrl };
    const loaded = resolveConfig(NO_FILE, { flags: demoFlags, env: {} });
    if ("problems" in loaded) throw new Error(loaded.problems.map(problemText).join("\n"));
    const { url, app, services } = await startApp(loaded, sink, env);
    return {
      url,
      close: async () => {
        await app.close(1);
        await services.close();
      },
    };
  };
  return demo({ keep, nudge }, startProxy, process.stdout);
}
