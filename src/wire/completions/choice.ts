import { asString } from "../../core/json.ts";
import type { Choice } from "../openai/frame.ts";

/** The choice of a chunk and that of a body are of one shape. */
export const textChoice: Choice = {
  said: (choice) => {
    const text = asString(choice.text) ?? "";
    return text === "" ? [] : [{ kind: "text", block: 0, text }];
  },
  speaks: (choice) => (asString(choice.text) ?? "") !== "",
  silence: { text: "" },
};
