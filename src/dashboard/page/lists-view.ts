import { CAUSES, OUTCOMES } from "../../core/cut.ts";
import type { Tally } from "../../events/tally.ts";
import type { ModelLine, UpstreamLine } from "../update.ts";
import { at, h, setText } from "./dom.ts";
import { count } from "./numbers.ts";
import type { Shown } from "./shown.ts";
import { CAUSE_WORDS, countWords, KNOWN_WORDS, OUTCOME_WORDS, SOURCE_WORDS, WAY_WORDS } from "./words.ts";

/** Models shown before the rest is folded away: a hosted list has hundreds. */
const MOST_MODELS = 12;

/** What changes seldom: upstreams, models, tallies and causes. Drawn anew only when it has. */
export class ListsView {
  #upstreams: Shown["upstreams"] | null = null;
  #tallies: Shown["tallies"] | null = null;
  #models: Shown["models"] | null = null;
  #counted = "";

  show({ upstreams, tallies, models, counted }: Shown): void {
    if (upstreams !== this.#upstreams) at("upstreams").replaceChildren(...upstreams.map(upstreamItem));
    const counting = JSON.stringify([...counted]);
    if (tallies !== this.#tallies || models !== this.#models || counting !== this.#counted)
      showModels(models, tallies, counted);
    if (tallies !== this.#tallies) {
      showTallies(tallies);
      showCauses(tallies);
    }
    this.#upstreams = upstreams;
    this.#tallies = tallies;
    this.#models = models;
    this.#counted = counting;
  }
}

function upstreamItem({ name, place, dialect, unready }: UpstreamLine): HTMLElement {
  const state = unready === undefined ? "asking" : unready === null ? "up" : "down";
  const word = { asking: "not asked yet", up: "answers", down: unready ?? "" }[state];
  const item = h("li", { "data-state": state, title: `${place}: ${word}` });
  item.append(
    h("b", {}, name),
    ` ${dialect} at ${place} `,
    h("span", { class: "upstream-state" }, state === "down" ? "no answer" : word),
  );
  return item;
}

function showModels(
  models: readonly ModelLine[],
  tallies: readonly Tally[],
  counted: ReadonlyMap<string, string>,
): void {
  const used = new Set(tallies.map(({ model }) => model));
  const sorted = models.toSorted((a, b) => Number(used.has(b.model)) - Number(used.has(a.model)));
  const row = (line: ModelLine) => modelRow(line, counted.get(line.model));
  at("models-rows").replaceChildren(...sorted.slice(0, MOST_MODELS).map(row));
  at("models-more-rows").replaceChildren(...sorted.slice(MOST_MODELS).map(row));
  at("models-more").hidden = sorted.length <= MOST_MODELS;
  setText(at("models-more-count"), count(sorted.length - MOST_MODELS));
  at("models-empty").hidden = sorted.length > 0;
  at("models-table").hidden = sorted.length === 0;
}

function modelRow(line: ModelLine, counted: string | undefined): HTMLElement {
  const { way, known } = line.continuation;
  const limits = [
    line.maxOutput === null ? null : `at most ${count(line.maxOutput)} a reply`,
    line.reasoning ? "reasons" : null,
  ].filter((word) => word !== null);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, line.model, h("small", {}, line.upstream)),
    h(
      "td",
      { class: "number", "data-label": "Window" },
      line.window === null ? "unknown" : count(line.window),
      h("small", {}, limits.join(", ")),
    ),
    h("td", { "data-label": "Known from" }, SOURCE_WORDS[line.source]),
    h("td", { "data-label": "Prompts counted" }, countWords(counted)),
    h("td", { "data-label": "Cut replies" }, WAY_WORDS[way], h("small", {}, KNOWN_WORDS[known])),
  );
}

function showTallies(tallies: readonly Tally[]): void {
  at("tallies-empty").hidden = tallies.length > 0;
  at("tallies-table").hidden = tallies.length === 0;
  at("tallies-rows").replaceChildren(
    ...tallies
      .toSorted((a, b) => b.requests - a.requests)
      .map(({ model, requests, outcomes }) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, model),
          h("td", { class: "number", "data-label": "requests" }, count(requests)),
          ...OUTCOMES.map((outcome) =>
            h(
              "td",
              { class: outcomes[outcome] === 0 ? "number none" : "number", "data-label": OUTCOME_WORDS[outcome].label },
              count(outcomes[outcome]),
            ),
          ),
        ),
      ),
  );
}

function showCauses(tallies: readonly Tally[]): void {
  const sums = CAUSES.map((cause) => ({
    cause,
    sum: tallies.reduce((sum, { causes }) => sum + causes[cause], 0),
  })).filter(({ sum }) => sum > 0);
  const most = Math.max(1, ...sums.map(({ sum }) => sum));
  at("causes-empty").hidden = sums.length > 0;
  at("causes-list").replaceChildren(
    ...sums
      .toSorted((a, b) => b.sum - a.sum)
      .map(({ cause, sum }) => {
        const share = h("i", { class: "cause-share", "aria-hidden": "true" });
        share.style.width = `${(100 * sum) / most}%`;
        return h("li", {}, h("span", {}, CAUSE_WORDS[cause]), h("b", {}, count(sum)), share);
      }),
  );
}
