import pkg from "../package.json" with { type: "json" };

/** As in package.json; the bundle holds it. */
export const VERSION: string = pkg.version;
