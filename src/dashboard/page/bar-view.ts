import { type Bar, barOf, type Filling } from "./bar.ts";
import { h } from "./dom.ts";

/**
 * A window as a bar: prompt, reply by passes, room left, with its cuts, seams and cap marked.
 * Decoration: what it shows stands beside it in words.
 */
export class BarView {
  readonly element = h("div", { class: "bar", "aria-hidden": "true" });
  readonly #prompt = h("i", { class: "bar-prompt" });
  readonly #cap = h("i", { class: "bar-cap" });
  readonly #pieces: HTMLElement[] = [];
  readonly #marks: HTMLElement[] = [];

  constructor() {
    this.element.append(this.#prompt, this.#cap);
  }

  /** @returns what is shown, for the words beside it */
  show(filling: Filling): Bar {
    const bar = barOf(filling);
    this.element.classList.toggle("bar-unknown", bar.room === null);
    place(this.#prompt, 0, bar.prompt);
    this.#cap.hidden = bar.cap === null;
    place(this.#cap, bar.cap ?? 0, null);
    this.#many(this.#pieces, bar.pieces.length, "bar-reply");
    bar.pieces.forEach(({ from, to }, at) => {
      place(this.#pieces[at], from, to - from);
    });
    this.#many(this.#marks, bar.marks.length, "bar-mark");
    bar.marks.forEach(({ at, kind }, number) => {
      const mark = this.#marks[number];
      if (mark !== undefined) mark.className = `bar-mark bar-${kind}`;
      place(mark, at, null);
    });
    return bar;
  }

  #many(elements: HTMLElement[], count: number, className: string): void {
    while (elements.length > count) elements.pop()?.remove();
    while (elements.length < count) {
      const element = h("i", { class: className });
      elements.push(element);
      this.element.append(element);
    }
  }
}

/** Shares of the bar. A width of null: a mark, as wide as its style says. */
function place(element: HTMLElement | undefined, left: number, width: number | null): void {
  if (element === undefined) return;
  element.style.left = percent(left);
  if (width !== null) element.style.width = percent(width);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}
