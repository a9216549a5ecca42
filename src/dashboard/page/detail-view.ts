import type { Attempt } from "../../core/cut.ts";
import type { Ended } from "../../events/live.ts";
import { cutsOf } from "./bar.ts";
import { BarView } from "./bar-view.ts";
import { at, h, setText } from "./dom.ts";
import { clock, count, duration, size } from "./numbers.ts";
import { badge } from "./recent-view.ts";
import { countWords, OUTCOME_WORDS, RESULT_WORDS, STRATEGY_WORDS, whyWords } from "./words.ts";

/** One ended request: what became of it, its window, and its attempts as a waterfall. */
export class DetailView {
  readonly #dialog = at("detail") as HTMLDialogElement;
  readonly #bar = new BarView();

  constructor() {
    at("detail-bar").append(this.#bar.element);
    at("detail-close").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("click", ({ target }) => {
      // A click on the dialog itself, and on nothing in it, is one beside it.
      if (target === this.#dialog) this.#dialog.close();
    });
  }

  open(ended: Ended): void {
    const { id, outcome, attempts, window, promptTokens, completionTokens, capSent } = ended;
    setText(at("detail-title"), `Request ${id}`);
    at("detail-outcome").replaceChildren(badge(outcome), h("p", {}, sentence(ended)));
    at("detail-facts").replaceChildren(...facts(ended));
    const bar = this.#bar.show({
      window,
      promptTokens,
      capSent,
      tokens: completionTokens ?? 0,
      cuts: cutsOf(attempts, ended.cuts),
    });
    setText(
      at("detail-room"),
      bar.room === null ? "The window is unknown." : `${count(bar.room)} tokens were left of the window.`,
    );
    at("detail-attempts").hidden = attempts.length === 0;
    at("detail-none").hidden = attempts.length > 0;
    at("detail-rows").replaceChildren(...waterfall(ended));
    this.#dialog.showModal();
    this.#dialog.scrollTop = 0;
  }
}

function sentence(ended: Ended): string {
  const why = whyWords(ended);
  return `${OUTCOME_WORDS[ended.outcome].says}${why === null ? "" : ` Why: ${why}.`}`;
}

function facts(ended: Ended): HTMLElement[] {
  const { model, upstream, wire, stream, endedAt, ms, window, promptTokens, completionTokens, capSent, code } = ended;
  const all: readonly (readonly [string, string])[] = [
    ["Model", model],
    ["Upstream", upstream === "" ? "none" : upstream],
    ["Asked through", `${wire}, ${stream ? "streamed" : "plain"}`],
    ["Ended", `${clock(endedAt)}, after ${duration(ms)}`],
    ["Window", window === null ? "unknown" : `${count(window)} tokens`],
    ["Prompt", `${count(promptTokens)} tokens, ${countWords(ended.countMethod)}`],
    ["Reply", `${count(completionTokens)} tokens`],
    ["Last cap", capSent === null ? "none" : `${count(capSent)} tokens`],
    ...(code === null ? [] : [["Code", code] as const]),
  ];
  return all.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
}

/** Passes follow each other; what is left of the time was spent before, between and behind them. */
function waterfall({ attempts, ms }: Ended): HTMLElement[] {
  const passes = attempts.reduce((sum, attempt) => sum + attempt.ms, 0);
  const whole = Math.max(ms, passes, 1);
  let from = 0;
  const rows = attempts.map((attempt, number) => {
    const row = attemptRow(attempt, number + 1, from / whole, attempt.ms / whole);
    from += attempt.ms;
    return row;
  });
  const rest = whole - passes;
  if (attempts.length === 0 || rest < 1) return rows;
  const words = "the rest: reading, counting, waiting, joining";
  const last = h(
    "tr",
    { class: "rest" },
    h("td", {}),
    h("td", { colspan: "7", "data-label": words }, h("span", { class: "rest-words" }, words)),
    h("td", { class: "number" }, duration(rest)),
  );
  return [...rows, last];
}

function attemptRow(attempt: Attempt, number: number, left: number, width: number): HTMLElement {
  const { label, says } = STRATEGY_WORDS[attempt.strategy];
  const bar = h("i", { class: `pass pass-${attempt.result}`, "aria-hidden": "true" });
  bar.style.left = `${left * 100}%`;
  bar.style.width = `${width * 100}%`;
  const { seam } = attempt;
  return h(
    "tr",
    {},
    h("td", { class: "number" }, String(number)),
    h("th", { scope: "row" }, label, h("small", {}, says)),
    h("td", { class: "fall" }, h("span", { class: "fall-time" }, bar)),
    h(
      "td",
      { "data-label": "Result" },
      RESULT_WORDS[attempt.result],
      h("small", {}, attempt.finish_reason ?? "no finish reason"),
    ),
    h("td", { class: "number", "data-label": "Cap" }, attempt.cap === null ? "none" : count(attempt.cap)),
    h("td", { class: "number", "data-label": "Prompt" }, count(attempt.prompt_tokens)),
    h(
      "td",
      { class: "number", "data-label": "Reply" },
      count(attempt.completion_tokens),
      h("small", {}, size(attempt.bytes)),
    ),
    h(
      "td",
      { class: "number", "data-label": "Overlap / dropped" },
      seam === null ? "–" : `${count(seam.overlap)} / ${count(seam.dropped)}`,
    ),
    h("td", { class: "number", "data-label": "Took" }, duration(attempt.ms)),
  );
}
