import type { Services } from "../services.ts";

/** `/status`: what runs, what is known, and how requests have ended. Numbers and names, never content or keys. */
export function status(services: Services): object {
  const { live, recent, series, tokensSaved } = services.board.snapshot();
  return {
    version: services.version,
    revision: services.config().revision,
    upstreams: services
      .servers()
      .map((server) => ({ name: server.name, place: server.place, dialect: server.dialectNow.name })),
    models: services.windows.all(services.servers()),
    live,
    recent,
    series,
    tokens_saved: tokensSaved,
    tallies: services.tallies.list(),
  };
}
