import type { JsonObject } from "../../src/core/json.ts";
import { sse } from "./sse.ts";
import { STYLES } from "./upstream-styles.ts";
import { choicesOf, EPOCH, type Scene, summary, type Writer } from "./upstream-writer.ts";

/** The legacy wire: text without template; reasoning is text like any other. */
export function completionsWriter(scene: Scene): Writer {
  const style = STYLES[scene.dialect];
  const id = scene.dialect === "openrouter" ? `gen-${EPOCH}-${scene.n}` : `cmpl-${scene.n}`;
  const base = { id, object: "text_completion", created: EPOCH + scene.n, model: scene.model };
  const all = summary(scene.script);
  const choice = (index: number, text: string, reason: string | null) => ({
    text,
    index,
    logprobs: null,
    finish_reason: reason,
  });
  const chunk = (choices: JsonObject[], more: JsonObject = {}) => [sse(style.frame(base, choices, more))];
  return {
    write(act) {
      switch (act.act) {
        case "role":
          return [];
        case "say":
          return chunk([choice(act.choice, act.text, null)]);
        case "think":
          return chunk([choice(0, act.text, null)]);
        case "tool":
          throw new Error("the completions wire has no tool calls");
        case "finish":
          return chunk([choice(act.choice, act.text, act.reason)]);
        case "usage":
          return scene.includeUsage || style.usageAlways || act.force
            ? chunk([], { usage: style.usage(act.usage) })
            : [];
        case "done":
          return [sse("[DONE]")];
        default:
          return act satisfies never;
      }
    },
    plain() {
      const choices = choicesOf(scene.script).map((index) => {
        const own = summary(scene.script, index);
        return choice(index, index === 0 ? own.reasoning + own.text : own.text, own.reason);
      });
      return style.frame(base, choices, all.tokens === null ? {} : { usage: style.usage(all.tokens) });
    },
  };
}
