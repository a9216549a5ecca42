/**
 * A model's name for a line that people paste into a shell or a config. Names come from clients: one that a shell could
 * read as more than a word is left out.
 */
export function pasteable(model: string): string {
  return /^[A-Za-z0-9][\w.:/@+-]{0,200}$/.test(model) ? model : "MODEL";
}

/** The fix where the server's window is what it is: another model takes what does not fit. */
export function routeElsewhere(model: string): string {
  return `models: [{ match: "${pasteable(model)}", overflow: route, overflowModel: "MODEL_WITH_A_LARGER_WINDOW" }]`;
}
