import { OUTCOMES, type Outcome } from "../../core/cut.ts";
import type { Ended } from "../../events/live.ts";
import { at, Folded, h, Keyed, setText } from "./dom.ts";
import { clock, count, duration } from "./numbers.ts";
import type { Shown } from "./shown.ts";
import { OUTCOME_WORDS, whyWords } from "./words.ts";

const MOST_SHOWN = 25;

/** The last requests, newest first; each opens its detail. */
export class RecentView {
  readonly #rows: Keyed<Ended, { readonly element: HTMLElement }>;
  readonly #filter = h("select", { id: "recent-filter" }, h("option", { value: "" }, "all"));
  readonly #folded: Folded;
  #recent: Shown["recent"] | null = null;
  #wanted: Outcome | "" = "";

  constructor(onOpen: (ended: Ended) => void, onChange: () => void) {
    const again = () => {
      this.#recent = null;
      onChange();
    };
    this.#folded = new Folded(at("recent-all"), MOST_SHOWN, again);
    this.#rows = new Keyed(at("recent-rows"), (ended) => ({ element: row(ended, onOpen) }));
    for (const outcome of OUTCOMES) this.#filter.append(h("option", { value: outcome }, OUTCOME_WORDS[outcome].label));
    at("recent-filter-label").append(this.#filter);
    this.#filter.addEventListener("change", () => {
      this.#wanted = this.#filter.value as Outcome | "";
      again();
    });
  }

  show({ recent }: Shown): void {
    if (recent === this.#recent) return;
    this.#recent = recent;
    const wanted = recent.filter(({ outcome }) => this.#wanted === "" || outcome === this.#wanted);
    this.#rows.show(this.#folded.of(wanted));
    at("recent-table").hidden = wanted.length === 0;
    at("recent-empty").hidden = wanted.length > 0;
    setText(at("recent-empty"), recent.length === 0 ? "No request has ended yet." : "None of the last 200 ended so.");
    setText(at("recent-count"), recent.length === 0 ? "" : count(wanted.length));
  }
}

function row(ended: Ended, onOpen: (ended: Ended) => void): HTMLElement {
  const { id, endedAt, model, outcome, promptTokens, completionTokens, attempts, ms } = ended;
  const open = h(
    "button",
    { type: "button", "aria-label": `${clock(endedAt)}, details of request ${id}` },
    clock(endedAt),
  );
  const element = h(
    "tr",
    {},
    h("td", { class: "recent-when" }, open),
    h("td", { class: "recent-model" }, model),
    h("td", { class: "recent-outcome" }, badge(outcome)),
    h("td", { class: "recent-why" }, whyWords(ended) ?? ""),
    h("td", { class: "number recent-tokens" }, count(promptTokens)),
    h("td", { class: "number recent-tokens" }, count(completionTokens)),
    h("td", { class: "number recent-passes" }, count(attempts.length)),
    h("td", { class: "number recent-ms" }, duration(ms)),
  );
  // The button is for keyboards and screen readers; a pointer may hit anywhere.
  element.addEventListener("click", () => onOpen(ended));
  return element;
}

export function badge(outcome: Outcome): HTMLElement {
  const { label } = OUTCOME_WORDS[outcome];
  return h("span", { class: "badge" }, h("i", { class: `swatch fill-${outcome}`, "aria-hidden": "true" }), label);
}
