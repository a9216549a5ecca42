import type { Policy } from "../config/policy.ts";
import type { Ask } from "../core/ask.ts";
import type { Failure } from "../core/error.ts";
import type { Plan } from "../recovery/job.ts";
import type { Dialect } from "../upstream/dialect.ts";
import type { Server } from "../upstream/server.ts";
import type { Wire } from "../wire/wire.ts";
import type { Known, Windows } from "./window.ts";

export interface Admission extends Plan {
  readonly known: Known;
  /** `exact`, `estimate;bound=N`, `ceiling`; null: not counted. */
  readonly method: string | null;
  readonly refusal: Failure | null;
  /** `x-lastword-*` headers that tell of the budget. */
  readonly headers: Record<string, string>;
}

export async function admit(
  services: { readonly windows: Windows },
  of: {
    readonly wire: Wire;
    readonly ask: Ask;
    readonly policy: Policy;
    readonly server: Server;
    readonly dialect: Dialect;
    readonly strict: boolean;
    readonly authorization: string | null;
    readonly bytes: number;
  },
): Promise<Admission> {
  const { ask, policy, server } = of;
  const known = await services.windows.known(server, ask.model, policy, of.authorization);
  const headers: Record<string, string> = { "x-lastword-window-source": known.source };
  if (known.window !== null) headers["x-lastword-window"] = String(known.window);
  return { known, prompt: null, method: null, cap: null, reason: "none", thinkingBudget: null, refusal: null, headers };
}
