import { type Agent, type IncomingMessage, request } from "node:http";

/** Sockets are never used twice here unless an agent is given. */
export interface Sent {
  /** Resolves with the head; rejects where none came. */
  readonly head: Promise<IncomingMessage>;
  /** The whole body; what there is of it where the connection broke. */
  readonly body: Promise<Buffer>;
  leave(): void;
}

export function post(url: string, body: string | Buffer, headers: Record<string, string> = {}, agent?: Agent): Sent {
  const sent = request(url, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
    agent: agent ?? false,
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
  head.catch(() => undefined);
  const whole = head.then(
    (response) =>
      new Promise<Buffer>((resolve) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", () => undefined);
        response.on("close", () => resolve(Buffer.concat(pieces)));
      }),
    () => Buffer.alloc(0),
  );
  sent.end(body);
  return { head, body: whole, leave: () => void sent.destroy() };
}

export function chat(model: string, id: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ model, stream: true, messages: [{ role: "user", content: `id-${id} hello` }], ...more });
}
