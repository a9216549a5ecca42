/**
 * What the raw text alone tells of a JSON value (a tool call's arguments, a structured reply), whatever the server says of its end.
 * - `empty`: nothing but whitespace
 * - `open`: the text ends inside the value
 * - `closed`: the model itself closed the value, nothing but whitespace follows, and it parses
 * - `bare`: it can stand as it is, but nothing shows that no more was to follow: a number on its own, plain text
 * - `broken`: no text that could follow makes it JSON
 */
export type Shape = "empty" | "open" | "closed" | "bare" | "broken";

/** Whether a value satisfies the client's schema. `unknown`: the schema is beyond bounds, not one we can read, or took too long. */
export type Validity = "valid" | "invalid" | "unknown";
