import type { Windows } from "../budget/window.ts";
import type { Config } from "../config/load.ts";
import { policyFor } from "../config/policy.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../core/json.ts";
import type { Server } from "../upstream/server.ts";

interface Sources {
  config(): Config;
  servers(): readonly Server[];
  readonly windows: Windows;
}

/**
 * The upstreams' model lists as one; the first upstream wins a name. Each model keeps what its upstream says of it, and gets
 * `context_length` (kept where the upstream gives it) and `lastword: {window, window_source, max_output}`.
 * null: no upstream gave a list; `refused` is the status with which the first one said no.
 */
export async function listModels(
  sources: Sources,
  authorization: string | null,
): Promise<{ readonly models: JsonObject[] } | { readonly refused: number | null }> {
  const lists = await Promise.all(sources.servers().map((server) => listOf(sources, server, authorization)));
  const models = new Map<string, JsonObject>();
  for (const list of lists) {
    for (const model of list.models) {
      const id = asString(model.id) ?? "";
      if (!models.has(id)) models.set(id, model);
    }
  }
  if (models.size === 0 && lists.every((list) => !list.answered))
    return { refused: lists.find((list) => list.status !== null)?.status ?? null };
  return { models: [...models.values()] };
}

async function listOf(
  { windows, config }: Sources,
  server: Server,
  authorization: string | null,
): Promise<{ readonly models: JsonObject[]; readonly answered: boolean; readonly status: number | null }> {
  const answer = await server.query(authorization)("GET", "v1", "/models");
  const data = asObject(answer?.json)?.data;
  if (answer === null || answer.status >= 400 || !Array.isArray(data))
    return { models: [], answered: false, status: answer?.status ?? null };
  const listed = asArray(data).filter(isObject);
  const models = listed.map(async (model) => {
    const id = asString(model.id);
    if (id === undefined) return [];
    const known = await windows.known(server, id, policyFor(config(), id), authorization);
    const length = model.context_length === undefined && known.window !== null ? { context_length: known.window } : {};
    const lastword = { window: known.window, window_source: known.source, max_output: known.maxOutput };
    return [{ ...model, ...length, lastword }];
  });
  return { models: (await Promise.all(models)).flat(), answered: true, status: answer.status };
}
