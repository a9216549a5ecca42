import { OUTCOMES, type Outcome } from "../../core/cut.ts";
import { type Column, columns, RANGES, type Range, scaleTop, totals } from "./columns.ts";
import { at, h, setText, svg } from "./dom.ts";
import { clock, count } from "./numbers.ts";
import type { Shown } from "./shown.ts";
import { OUTCOME_WORDS } from "./words.ts";

const WIDTH = 600;
const HEIGHT = 120;

/** How requests ended over time, stacked; the list below it says the same in numbers. */
export class ChartView {
  readonly #bars = at("chart-bars");
  readonly #counts = new Map<Outcome, HTMLElement>();
  #range: Range = "minutes";
  #drawn = "";

  constructor(onRange: () => void) {
    for (const outcome of OUTCOMES) {
      const { label, says } = OUTCOME_WORDS[outcome];
      const number = h("b");
      this.#counts.set(outcome, number);
      at("chart-legend").append(
        h(
          "li",
          { title: says },
          h("i", { class: `swatch fill-${outcome}`, "aria-hidden": "true" }),
          `${label} `,
          number,
        ),
      );
    }
    for (const input of at("chart-range").querySelectorAll("input")) {
      input.addEventListener("change", () => {
        this.#range = input.value as Range;
        onRange();
      });
    }
  }

  show(shown: Shown, now: number): void {
    const all = columns(shown.slices.values(), now + shown.skewMs, this.#range);
    const drawn = JSON.stringify(all);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const { label, per } = RANGES[this.#range];
    const sums = totals(all);
    for (const [outcome, element] of this.#counts) setText(element, count(sums[outcome]));
    const top = scaleTop(Math.max(...all.map(({ sum }) => sum)));
    setText(at("chart-top"), `${count(top)} ${per}`);
    setText(at("chart-from"), `${label} ago`);
    this.#bars.setAttribute("aria-label", `How requests ended in the last ${label}; the numbers stand below.`);
    this.#bars.replaceChildren(...all.flatMap((column, number) => stack(column, number, WIDTH / all.length, top)));
  }
}

function stack(column: Column, number: number, width: number, top: number): SVGElement[] {
  if (column.sum === 0) return [];
  const title = svg("title", {});
  const parts = OUTCOMES.filter((outcome) => column.outcomes[outcome] > 0);
  const counts = parts.map((outcome) => `${column.outcomes[outcome]} ${OUTCOME_WORDS[outcome].label}`);
  title.textContent = `${clock(column.from)}: ${counts.join(", ")}`;
  const group = svg("g", {});
  group.append(title);
  let y = HEIGHT;
  for (const outcome of parts) {
    const height = (column.outcomes[outcome] / top) * HEIGHT;
    y -= height;
    const x = number * width + width * 0.1;
    group.append(svg("rect", { x, y, width: width * 0.8, height, class: `fill-${outcome}` }));
  }
  return [group];
}
