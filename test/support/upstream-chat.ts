import type { JsonObject } from "../../src/core/json.ts";
import type { DialectName } from "../../src/upstream/dialect.ts";
import { sse } from "./sse.ts";
import type { Script } from "./upstream-script.ts";
import { STYLES, type Style } from "./upstream-styles.ts";
import { choicesOf, EPOCH, type Scene, type Speech, summary, type Writer } from "./upstream-writer.ts";

export function chatWriter(scene: Scene): Writer {
  const style = STYLES[scene.dialect];
  const id = scene.dialect === "openrouter" ? `gen-${EPOCH}-${scene.n}` : `chatcmpl-${scene.n}`;
  const base = (object: string) => ({ id, object, created: EPOCH + scene.n, model: scene.model });
  const all = summary(scene.script);
  const usageWanted = scene.includeUsage || style.usageAlways;
  const usageNull = style.usageNull && scene.includeUsage ? { usage: null } : {};
  const timings = style.timings === null ? {} : { timings: style.timings(all.tokens ?? { prompt: 1, completion: 1 }) };
  /** Choices whose role was told. */
  const named = new Set<number>();

  const chunk = (choices: JsonObject[], more: JsonObject = {}) =>
    sse(style.frame(base("chat.completion.chunk"), choices, { ...usageNull, ...more }));
  const delta = (index: number, said: JsonObject) => chunk([style.choice(index, { delta: said }, null, null)]);

  /** The role's own chunk, once, where the server has one. */
  function roleChunk(index: number): string[] {
    if (named.has(index) || typeof style.role === "string") return [];
    named.add(index);
    return [delta(index, style.role.own)];
  }

  function output(index: number, ...saids: JsonObject[]): string[] {
    const before = roleChunk(index);
    const events = saids.map((said) => {
      const withRole = style.role === "every" || (style.role === "first" && !named.has(index));
      named.add(index);
      return delta(index, withRole ? { role: "assistant", ...said } : said);
    });
    return [...before, ...events];
  }

  return {
    write(act: Speech) {
      switch (act.act) {
        case "role":
          return typeof style.role === "string" ? output(0, { role: "assistant", content: "" }) : roleChunk(0);
        case "say":
          return output(act.choice, { content: act.text });
        case "think":
          return output(0, style.thought(act.text));
        case "tool":
          return output(0, ...toolDeltas(style, act).map((call) => ({ tool_calls: [call] })));
        case "finish": {
          const said = act.text === "" ? style.finishDelta : { ...style.finishDelta, content: act.text };
          const last = !(usageWanted && all.tokens !== null);
          const choice = style.choice(act.choice, { delta: said }, act.reason, act.native);
          return [...roleChunk(act.choice), chunk([choice], last ? timings : {})];
        }
        case "usage":
          return usageWanted || act.force ? [chunk([], { usage: style.usage(act.usage), ...timings })] : [];
        case "done":
          return [sse("[DONE]")];
        default:
          return act satisfies never;
      }
    },

    plain() {
      const choices = choicesOf(scene.script).map((index) => {
        const own = index === 0 ? all : summary(scene.script, index);
        const tools = index === 0 ? all.tools : [];
        const message: JsonObject = {
          role: "assistant",
          ...(index > 0 || all.reasoning === "" ? {} : style.thought(all.reasoning)),
          content: own.text === "" && tools.length > 0 ? null : own.text,
        };
        if (tools.length > 0)
          message.tool_calls = tools.map((call, at) => ({
            ...(scene.dialect === "ollama" ? { index: at } : {}),
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.args },
          }));
        return style.choice(index, { message }, own.reason, own.native);
      });
      return style.frame(base("chat.completion"), choices, {
        ...(all.tokens === null ? {} : { usage: style.usage(all.tokens) }),
        ...(scene.dialect === "lmstudio" ? { stats: {} } : {}),
        ...timings,
      });
    },
  };
}

function toolDeltas(style: Style, act: Extract<Speech, { act: "tool" }>): JsonObject[] {
  const named = act.id !== "" || act.name !== "";
  const first = { index: act.index, id: act.id, type: "function" };
  if (!named) return [{ index: act.index, function: { arguments: act.args } }];
  if (style.tools !== "split") return [{ ...first, function: { name: act.name, arguments: act.args } }];
  const name = { ...first, function: { name: act.name } };
  return act.args === "" ? [name] : [name, { index: act.index, function: { arguments: act.args } }];
}

/** Where the server sends a tool call whole, its pieces are joined before it is played. */
export function joinTools(script: Script, dialect: DialectName): Script {
  if (STYLES[dialect].tools !== "whole") return script;
  const joined: Script[number][] = [];
  for (const act of script) {
    const last = joined.at(-1);
    if (act.act === "tool" && last?.act === "tool" && last.index === act.index)
      joined[joined.length - 1] = {
        ...last,
        id: last.id + act.id,
        name: last.name + act.name,
        args: last.args + act.args,
      };
    else joined.push(act);
  }
  return joined;
}
