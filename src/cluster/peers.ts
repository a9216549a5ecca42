/** What one process can be asked of itself, for all to be told as one. */
export type Question = "metrics" | "status";

/** The processes that share a port. */
export interface Peers {
  /** Every process's own answer, in no order; a process that does not answer in time is left out. */
  gather(question: Question): Promise<unknown[]>;
}

export type Answer = (question: Question) => Promise<unknown>;

/** Messages between the first process and its workers. `lastword` tells them from anybody else's. */
export type Message =
  | { readonly lastword: "gather"; readonly id: number; readonly question: Question }
  | { readonly lastword: "gathered"; readonly id: number; readonly parts: unknown[] }
  | { readonly lastword: "ask"; readonly id: number; readonly question: Question }
  | { readonly lastword: "answer"; readonly id: number; readonly part: unknown }
  | { readonly lastword: "tallies"; readonly tallies: unknown };

export function isMessage(message: unknown): message is Message {
  return typeof message === "object" && message !== null && "lastword" in message;
}

/** One process, which is all there is. */
export function alone(answer: Answer): Peers {
  return { gather: async (question) => [await answer(question)] };
}

/** This process as one of several: it asks all of them through the first one, and answers when it is asked itself. */
export function amongWorkers(answer: Answer): Peers {
  const waiting = new Map<number, (parts: unknown[]) => void>();
  let ids = 0;
  const send = (message: Message) => void process.send?.(message);
  process.on("message", (message: unknown) => {
    if (!isMessage(message)) return;
    if (message.lastword === "gathered") {
      waiting.get(message.id)?.(message.parts);
      waiting.delete(message.id);
    } else if (message.lastword === "ask") {
      const { id, question } = message;
      void answer(question).then((part) => send({ lastword: "answer", id, part }));
    }
  });
  return {
    gather: (question) =>
      new Promise((resolve) => {
        const id = ++ids;
        waiting.set(id, resolve);
        send({ lastword: "gather", id, question });
      }),
  };
}
