import { at, setAttribute, setText } from "./dom.ts";
import type { LinkState } from "./link.ts";
import { clock } from "./numbers.ts";

/** How the page stands with the proxy, in the header, and the form that asks for a key. */
export class LinkView {
  readonly #key = at("door-key") as HTMLInputElement;
  #lastLive: number | null = null;

  constructor(onKey: (key: string) => void) {
    at("door").addEventListener("submit", (event) => {
      event.preventDefault();
      const key = this.#key.value.trim();
      if (key === "") return;
      this.#key.value = "";
      onKey(key);
    });
  }

  get isLive(): boolean {
    return document.body.dataset.link === "live";
  }

  show(state: LinkState): void {
    if (state.is !== "live" && this.isLive) this.#lastLive = Date.now();
    setAttribute(document.body, "data-link", state.is);
    setText(at("link"), labelOf(state));
    at("lost").hidden = state.is !== "lost";
    if (state.is === "lost") {
      const since = this.#lastLive === null ? "" : ` What you see is from ${clock(this.#lastLive)}.`;
      setText(
        at("lost"),
        `${state.why ?? "There is no contact with the proxy."} Trying again until it answers.${since}`,
      );
    }
    const locked = state.is === "locked";
    const opens = locked && at("door").hidden;
    at("door").hidden = !locked;
    at("content").hidden = locked;
    if (locked) setText(at("door-wrong"), state.wrong ? "That key is not one of this proxy's." : "");
    if (opens || (locked && state.wrong)) this.#key.focus();
  }
}

function labelOf(state: LinkState): string {
  switch (state.is) {
    case "connecting":
      return "Connecting";
    case "live":
      return "Live";
    case "lost":
      return "Reconnecting";
    case "locked":
      return "Key needed";
    case "hidden":
      return "Paused";
    default:
      return state satisfies never;
  }
}
