import { ChartView } from "./chart-view.ts";
import { DetailView } from "./detail-view.ts";
import { at, setText } from "./dom.ts";
import { FiguresView } from "./figures-view.ts";
import { Link } from "./link.ts";
import { LinkView } from "./link-view.ts";
import { ListsView } from "./lists-view.ts";
import { NowView } from "./now-view.ts";
import { RecentView } from "./recent-view.ts";
import { nothing, take } from "./shown.ts";

/** Updates are taken in as they come and drawn once a frame. */
function main(): void {
  const shown = nothing();
  let drawing = false;
  const draw = () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      const now = Date.now();
      for (const view of views) view.show(shown, now);
      setText(at("version"), shown.version);
      document.title = shown.live.size === 0 ? "lastword" : `(${shown.live.size}) lastword`;
    });
  };
  const detail = new DetailView();
  const views = [
    new FiguresView(),
    new NowView(draw),
    new ChartView(draw),
    new ListsView(),
    new RecentView((ended) => detail.open(ended), draw),
  ];
  const linkView = new LinkView((key) => link.unlock(key));
  const link = new Link({
    onState: (state) => linkView.show(state),
    onUpdate: (update) => {
      take(shown, update, Date.now());
      draw();
    },
  });
  setText(at("base-url"), `${location.origin}/v1`);
  // A page that nobody sees is told nothing.
  const look = () => (document.hidden ? link.hide() : link.open());
  document.addEventListener("visibilitychange", look);
  look();
  // Time passes without updates too: ages grow, and the chart moves on; but not while what is shown is of a moment ago.
  setInterval(() => linkView.isLive && draw(), 1000);
}

main();
