import type { Finish, Part, Usage } from "./part.ts";

/** A run of one kind of output, in the order in which the model wrote it. */
export interface Block {
  readonly kind: "text" | "reasoning" | "tool";
  /** The wire's own number for it; later passes go on in the same block. */
  readonly block: number;
  /** Text, reasoning, or a tool call's raw arguments. */
  text: string;
  id: string;
  name: string;
  /** The wire said that this block has ended. */
  ended: boolean;
  /** Signed or encrypted: passed on, never resumed or edited. */
  sealed: boolean;
}

/** A reply as known so far: content for joining, never for logs. */
export interface Reply {
  readonly blocks: Block[];
  finish: Finish | null;
  usage: Usage | null;
  /** The terminal event was seen. */
  ended: boolean;
}

export function emptyReply(): Reply {
  return { blocks: [], finish: null, usage: null, ended: false };
}

/**
 * Adds what one part says. Later usage replaces earlier (servers repeat it cumulatively). The first finish stands, unless a later one tells
 * of a cut: of several choices each has its own.
 */
export function take(reply: Reply, part: Part): void {
  switch (part.kind) {
    case "text":
    case "reasoning":
      if (part.text !== "") open(reply, part.kind, part.block).text += part.text;
      return;
    case "sealed_reasoning":
      open(reply, "reasoning", part.block).sealed = true;
      return;
    case "tool": {
      const known = open(reply, "tool", part.block);
      const call = isOther(known, part.id, part.name) ? begin(reply, "tool", part.block) : known;
      call.text += part.args;
      if (part.id !== "" && call.id === "") call.id = part.id;
      if (part.name !== "" && call.name === "") call.name = part.name;
      return;
    }
    case "tool_end":
      open(reply, "tool", part.block).ended = true;
      return;
    case "finish":
      if (reply.finish === null || tellsOfCut(part.finish)) reply.finish = part.finish;
      return;
    case "usage":
      reply.usage = part.usage;
      return;
    case "end":
      reply.ended = true;
      return;
    case "fault":
      return;
    default:
      part satisfies never;
  }
}

function tellsOfCut({ kind }: Finish): boolean {
  return kind === "cap" || kind === "window";
}

/** The last block of this kind and number, begun where there is none. */
function open(reply: Reply, kind: Block["kind"], block: number): Block {
  const { blocks } = reply;
  const last = blocks[blocks.length - 1];
  if (last?.kind === kind && last.block === block) return last;
  const have =
    blocks.length <= FEW
      ? blocks.findLast((one) => one.kind === kind && one.block === block)
      : indexOf(blocks).get(`${kind}${block}`);
  return have ?? begin(reply, kind, block);
}

/** Blocks that are looked through one by one; a turn with thousands of calls has an index. */
const FEW = 16;
const INDEXES = new WeakMap<
  readonly Block[],
  { counted: number; last: Block | undefined; byName: Map<string, Block> }
>();

/** The last block of each kind and number; kept up while blocks are only added. */
function indexOf(blocks: readonly Block[]): ReadonlyMap<string, Block> {
  let index = INDEXES.get(blocks);
  if (index === undefined || blocks[index.counted - 1] !== index.last) {
    index = { counted: 0, last: undefined, byName: new Map() };
    INDEXES.set(blocks, index);
  }
  for (const one of blocks.slice(index.counted)) index.byName.set(`${one.kind}${one.block}`, one);
  index.counted = blocks.length;
  index.last = blocks.at(-1);
  return index.byName;
}

function begin(reply: Reply, kind: Block["kind"], block: number): Block {
  const fresh: Block = { kind, block, text: "", id: "", name: "", ended: false, sealed: false };
  reply.blocks.push(fresh);
  return fresh;
}

/** Some servers give every call of a turn the same number (Gemini's compatible endpoint): a name with a new id is a new call. */
function isOther(call: Block, id: string, name: string): boolean {
  return call.id !== "" && id !== "" && call.id !== id && name !== "";
}

/** All visible text, joined. */
export function textOf(reply: Reply): string {
  return joined(reply, "text");
}

/** All visible reasoning, joined. */
export function reasoningOf(reply: Reply): string {
  return joined(reply, "reasoning");
}

export function callsOf(reply: Reply): Block[] {
  return reply.blocks.filter((block) => block.kind === "tool");
}

function joined(reply: Reply, kind: Block["kind"]): string {
  let all = "";
  for (const block of reply.blocks) if (block.kind === kind) all += block.text;
  return all;
}
