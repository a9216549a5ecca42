import { BarView } from "./bar-view.ts";
import { at, Folded, h, Keyed, setAttribute, setText } from "./dom.ts";
import { count, duration } from "./numbers.ts";
import type { LiveRow, Shown } from "./shown.ts";
import { PHASE_WORDS } from "./words.ts";

const MOST_SHOWN = 25;

/** Requests under way, oldest first, each as a bar of its window. */
export class NowView {
  readonly #folded: Folded;
  readonly #rows = new Keyed<LiveRow, Row>(at("now-list"), () => new Row());
  readonly #empty = at("now-empty");
  readonly #list = at("now-list");

  constructor(onFold: () => void) {
    this.#folded = new Folded(at("now-all"), MOST_SHOWN, onFold);
  }

  show({ live }: Shown, now: number): void {
    this.#empty.hidden = live.size > 0;
    this.#list.hidden = live.size === 0;
    const rows = this.#folded.of([...live.values()]);
    // Beyond a few, gliding bars would cost more than they show.
    this.#list.classList.toggle("glides", rows.length <= MOST_SHOWN);
    setText(at("now-count"), live.size === 0 ? "" : count(live.size));
    this.#rows.show(rows, (row, request) => row.show(request, now));
  }
}

class Row {
  readonly #model = h("span", { class: "run-model" });
  readonly #where = h("span", { class: "run-where" });
  readonly #phase = h("span", { class: "run-phase" });
  readonly #time = h("span", { class: "run-time" });
  readonly #bar = new BarView();
  readonly #prompt = h("b");
  readonly #reply = h("b");
  readonly #room = h("b");
  readonly #cuts = h("span", { class: "run-cuts" });
  #last: LiveRow | null = null;
  readonly element = h(
    "li",
    { class: "run" },
    h("div", { class: "run-name" }, this.#model, this.#where),
    h(
      "div",
      { class: "run-window" },
      this.#bar.element,
      h(
        "div",
        { class: "run-numbers" },
        h("span", { class: "key-prompt" }, "prompt ", this.#prompt),
        h("span", { class: "key-reply" }, "reply ", this.#reply),
        h("span", { class: "key-room" }, "room left ", this.#room),
        this.#cuts,
      ),
    ),
    h("div", { class: "run-state" }, this.#phase, this.#time),
  );

  show(request: LiveRow, now: number): void {
    setText(this.#time, duration(now - request.since));
    if (this.#last === request) return;
    this.#last = request;
    const { model, wire, stream, upstream, phase, tokens, cuts, capSent, window } = request;
    // Once a pass has ended, the upstream's own count is known.
    const reported = request.attempts[0]?.prompt_tokens ?? null;
    const promptTokens = reported ?? request.promptTokens;
    const atMost = reported === null && request.countMethod === "ceiling";
    const bar = this.#bar.show({ window, promptTokens, capSent, tokens, cuts });
    setText(this.#model, model);
    setText(this.#where, [wire, stream ? "streamed" : "plain", upstream].filter((word) => word !== "").join(" · "));
    setText(this.#phase, PHASE_WORDS[phase]);
    setAttribute(this.element, "data-phase", phase);
    setText(this.#prompt, `${atMost ? "at most " : ""}${count(promptTokens)}`);
    setText(this.#reply, count(tokens));
    setText(this.#room, bar.room === null ? "unknown" : count(bar.room));
    setText(this.#cuts, cutWords(bar.marks));
  }
}

function cutWords(marks: readonly { readonly kind: "cut" | "seam" }[]): string {
  const seams = marks.filter(({ kind }) => kind === "seam").length;
  const open = marks.length - seams;
  const parts = [];
  if (seams > 0) parts.push(seams === 1 ? "1 seam" : `${seams} seams`);
  if (open > 0) parts.push("cut just now");
  return parts.join(", ");
}
