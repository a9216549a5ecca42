import { columns, sumOf, totals } from "./columns.ts";
import { at, setText } from "./dom.ts";
import { count, percent } from "./numbers.ts";
import type { Shown } from "./shown.ts";

/** The few numbers that say how things stand. */
export class FiguresView {
  show(shown: Shown, now: number): void {
    const hour = totals(columns(shown.slices.values(), now + shown.skewMs, "hour"));
    const replies = hour.complete + hour.healed + hour.cut_off + hour.malformed;
    const whole = hour.complete + hour.healed;
    setText(at("figure-now"), count(shown.live.size));
    setText(at("figure-whole"), percent(whole, replies));
    setText(
      at("figure-whole-of"),
      replies === 0 ? "no replies in the last hour" : `${count(whole)} of ${count(replies)} replies`,
    );
    setText(at("figure-healed"), count(hour.healed));
    setText(at("figure-cut"), count(hour.cut_off + hour.malformed));
    setText(at("figure-refused"), count(hour.rejected + hour.failed));
    setText(at("figure-refused-of"), `of ${count(sumOf(hour))} requests`);
    setText(at("figure-saved"), count(shown.tokensSaved));
  }
}
