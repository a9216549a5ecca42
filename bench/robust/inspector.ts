import { WebSocket } from "undici";

/** Looks into a running Node process by its inspector: what no metric tells. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #id = 0;

  static connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    return new Promise((resolve, reject) => {
      socket.addEventListener("open", () => resolve(new Inspector(socket)));
      socket.addEventListener("error", () => reject(new Error("the inspector does not answer")));
    });
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  /** The value of an expression. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.#call("Runtime.evaluate", { expression, returnByValue: true });
    return (answer as { result: { value: T } }).result.value;
  }

  /** Bytes of the heap that are in use once everything that can go has gone. */
  async usedHeap(): Promise<number> {
    for (let i = 0; i < 3; i++) await this.#call("HeapProfiler.collectGarbage", {});
    return ((await this.#call("Runtime.getHeapUsage", {})) as { usedSize: number }).usedSize;
  }

  /** Timers, sockets and whatever else keeps the process alive, by kind. */
  async resources(): Promise<Record<string, number>> {
    const kinds = await this.evaluate<string[]>("process.getActiveResourcesInfo()");
    const counts: Record<string, number> = {};
    for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object): Promise<unknown> {
    const id = ++this.#id;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
