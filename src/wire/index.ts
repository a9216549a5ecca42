import { chat } from "./chat/chat.ts";
import { completions } from "./completions/completions.ts";
import { messages } from "./messages/messages.ts";
import { responses } from "./responses/responses.ts";
import type { Wire } from "./wire.ts";

/** Every wire that is served in full. To add one: its folder, and its name here. */
export const wires: readonly Wire[] = [chat, completions, responses, messages];
