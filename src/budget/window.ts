import type { ModelFacts, WindowSource } from "../upstream/dialect.ts";
import type { Knowledge } from "../upstream/knowledge.ts";
import type { Server } from "../upstream/server.ts";

/** What a budget may rely on for one model, in tokens. null: unknown, and nothing is clamped or rejected for it. */
export interface Known {
  readonly window: number | null;
  readonly source: WindowSource;
  /** The trained maximum: rejects prompts above it, sizes nothing. */
  readonly trained: number | null;
  readonly maxOutput: number | null;
  readonly maxInput: number | null;
  /** true: known to reason. */
  readonly reasoning: boolean;
}

/** What the config says of a model. */
export interface Configured {
  readonly window: number | null;
  readonly maxOutput: number | null;
  readonly reasoning: boolean | null;
}

interface Listing {
  at: number;
  models: readonly ModelFacts[];
  byName: Map<string, ModelFacts>;
  /** HTTP status with which the list was refused, or null. */
  refused: number | null;
}

/** A model that is not loaded yet may be loaded by the very next request, and a failed list may come back. */
const PROVISIONAL_MS = 2_000;

/** The windows of all models: asked once per TTL, corrected by what errors say, never by generating anything. */
export class Windows {
  readonly #knowledge: Knowledge;
  readonly #ttlMs: () => number;
  readonly #now: () => number;
  readonly #lists = new Map<string, Listing>();
  readonly #asking = new Map<string, Promise<Listing>>();

  constructor(knowledge: Knowledge, ttlMs: () => number, now: () => number = Date.now) {
    this.#knowledge = knowledge;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /**
   * What is known of `model` on `upstream`. Synchronous while the list is fresh.
   * `authorization`: the client's own, used where the list needs a key and none is configured, and then remembered by nobody.
   */
  known(upstream: Server, model: string, configured: Configured, authorization: string | null): Known | Promise<Known> {
    // A window by order needs no list, unless the output limit or the reasoning is wanted of one that is there anyway.
    const listing = this.#lists.get(upstream.name);
    if (listing !== undefined && this.#fresh(listing, model)) return this.#merge(upstream, model, configured, listing);
    if (configured.window !== null && listing === undefined) {
      void this.#list(upstream, null).catch(() => undefined);
      return this.#merge(upstream, model, configured, null);
    }
    return this.#list(upstream, null).then(async (fresh) => {
      if (fresh.refused === null || upstream.authorization !== null || authorization === null)
        return this.#merge(upstream, model, configured, await this.#inspected(upstream, fresh, model, null));
      const own = await this.#ask(upstream, authorization);
      return this.#merge(upstream, model, configured, await this.#inspected(upstream, own, model, authorization));
    });
  }

  /** Every listed model, for `/v1/models`, `/status` and `check`. */
  async listed(upstream: Server, authorization: string | null): Promise<readonly ModelFacts[]> {
    const listing = await this.#list(upstream, null);
    if (listing.refused !== null && upstream.authorization === null && authorization !== null)
      return (await this.#ask(upstream, authorization)).models;
    return listing.models;
  }

  /** Every listed model of these upstreams with what is known of it, without asking anybody. */
  all(
    upstreams: readonly Server[],
  ): { upstream: string; model: string; window: number | null; source: WindowSource; max_output: number | null }[] {
    return upstreams.flatMap((upstream) =>
      (this.#lists.get(upstream.name)?.models ?? []).map((facts) => {
        const model = facts.names[0] ?? "";
        const known = this.now(upstream, model, { window: null, maxOutput: null, reasoning: null });
        return {
          upstream: upstream.name,
          model,
          window: known.window,
          source: known.source,
          max_output: known.maxOutput,
        };
      }),
    );
  }

  /** What is known without asking anybody. */
  now(upstream: Server, model: string, configured: Configured): Known {
    return this.#merge(upstream, model, configured, this.#lists.get(upstream.name) ?? null);
  }

  /** The listed fact of a model, for judging what an error claims. */
  listing(upstream: Server, model: string): ModelFacts | null {
    return this.#lists.get(upstream.name)?.byName.get(model) ?? null;
  }

  /** The server was restarted or has loaded a model: its list is asked again before the next decision. */
  stale(upstream: Server): void {
    this.#lists.delete(upstream.name);
  }

  /** A model that was not loaded has just answered: it is loaded now, perhaps with another window. */
  servedBy(upstream: Server, model: string): void {
    if (this.listing(upstream, model)?.provisional === true) this.stale(upstream);
  }

  #fresh(listing: Listing, model: string): boolean {
    const age = this.#now() - listing.at;
    if (listing.refused !== null || listing.models.length === 0) return age < PROVISIONAL_MS;
    const facts = listing.byName.get(model);
    return age < (facts === undefined || facts.provisional ? PROVISIONAL_MS : this.#ttlMs());
  }

  #list(upstream: Server, authorization: string | null): Promise<Listing> {
    const under = this.#asking.get(upstream.name);
    if (under !== undefined) return under;
    const asking = this.#ask(upstream, authorization).then((listing) => {
      this.#asking.delete(upstream.name);
      const before = this.#lists.get(upstream.name);
      // No answer now: what was known stays until it answers again.
      const kept = listing.models.length === 0 && listing.refused === null && before !== undefined;
      const stands = kept ? { ...before, at: this.#now() } : listing;
      this.#lists.set(upstream.name, stands);
      return stands;
    });
    this.#asking.set(upstream.name, asking);
    return asking;
  }

  async #ask(upstream: Server, authorization: string | null): Promise<Listing> {
    const dialect = await upstream.dialect();
    const answer = await dialect.discover(upstream.query(authorization));
    const models = answer !== null && "models" in answer ? answer.models : [];
    const refused = answer !== null && "refused" in answer ? answer.refused : null;
    return { at: this.#now(), models, byName: index(models), refused };
  }

  async #inspected(upstream: Server, listing: Listing, model: string, authorization: string | null): Promise<Listing> {
    const dialect = upstream.dialectNow;
    const listed = listing.byName.get(model) ?? null;
    if (dialect.inspect === undefined || model === "" || (listed !== null && listed.window !== null)) return listing;
    const facts = await dialect.inspect(upstream.query(authorization), model, listed);
    if (facts === null) return listing;
    // A fact learned with the client's own key stays within the client's request.
    if (authorization !== null) return { ...listing, byName: new Map(listing.byName).set(model, facts) };
    for (const name of [model, ...facts.names]) listing.byName.set(name, facts);
    return listing;
  }

  #merge(upstream: Server, model: string, configured: Configured, listing: Listing | null): Known {
    const facts =
      listing?.byName.get(model) ?? (listing !== null && listing.models.length === 1 ? only(listing) : null) ?? null;
    const lessons = this.#knowledge.of(upstream.name, model);
    const now = this.#now();
    let window = configured.window ?? facts?.window ?? null;
    let source: WindowSource =
      configured.window !== null ? "config" : window === null ? "unknown" : (facts?.source ?? "unknown");
    if (configured.window === null && lessons.window !== null && lessons.windowUntil > now) {
      if (window === null || lessons.window < window) {
        window = lessons.window;
        source = "error";
      }
    }
    if (window === null && facts?.trained != null) source = "trained";
    const limits = [
      configured.maxOutput ?? facts?.maxOutput ?? null,
      lessons.maxOutputUntil > now ? lessons.maxOutput : null,
    ];
    const known = limits.filter((limit): limit is number => limit !== null);
    return {
      window,
      source,
      trained: facts?.trained ?? null,
      maxOutput: known.length === 0 ? null : Math.min(...known),
      maxInput: facts?.maxInput ?? null,
      reasoning: configured.reasoning ?? (facts?.reasoning === true || lessons.reasons),
    };
  }
}

function index(models: readonly ModelFacts[]): Map<string, ModelFacts> {
  const byName = new Map<string, ModelFacts>();
  for (const model of models) for (const name of model.names) if (!byName.has(name)) byName.set(name, model);
  return byName;
}

/** A server with one model (llama-server) answers for it under any name. */
function only(listing: Listing): ModelFacts | null {
  const model = listing.models[0];
  return model?.anyName === true ? model : null;
}
