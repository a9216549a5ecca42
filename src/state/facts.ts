import { type Calibration, startOf } from "../budget/calibrate.ts";
import type { Counter } from "../budget/count.ts";
import { familyOf } from "../budget/families.ts";
import { asObject, asString, parseJson } from "../core/json.ts";
import type { Knowledge } from "../upstream/knowledge.ts";
import { merge, readCalibration, readLessons } from "./merge.ts";
import { AWAY, nameFor, type Store } from "./redis.ts";

const CHANNEL = "lastword:1:lessons";
/** Lessons come in bursts: they are told together. */
const SETTLE_MS = 200;
const CALIBRATIONS_MS = 10_000;
/** A week: what a model is like is learned quickly, and forgotten with the model. */
const KEEP_SECONDS = 604_800;

export interface FactsOptions {
  readonly store: Store;
  readonly knowledge: Knowledge;
  readonly counter: Counter;
  /** Where an upstream is: replicas may call it by different names. null: it is not in the config any more. */
  readonly urlOf: (upstream: string) => string | null;
}

interface Model {
  readonly upstream: string;
  readonly model: string;
  /** Of what it is in Redis. */
  readonly lessons: string;
  readonly calibration: string;
  /** Replies that the calibration in Redis is known to rest on, and our own when it was last compared. */
  shared: number;
  compared: number;
}

/** As many as are known in all; the oldest is forgotten. */
const MOST_MODELS = 1_000;

/**
 * What replicas learn of models, told to each other: lessons as soon as they are learned, calibrations every ten seconds. No request waits for
 * any of it. Redis holds numbers and field names, under names from which neither upstream nor model can be read.
 */
export class Facts {
  readonly #o: FactsOptions;
  readonly #models = new Map<string, Model>();
  readonly #changed = new Set<Model>();
  readonly #unsubscribe: () => void;
  readonly #calibrating: NodeJS.Timeout;
  #telling: NodeJS.Timeout | null = null;

  constructor(options: FactsOptions) {
    this.#o = options;
    const { store, knowledge } = options;
    this.#unsubscribe = store.subscribe(CHANNEL, (message) => this.#heard(message));
    knowledge.onFirst = (upstream, model) => {
      const found = this.#modelOf(upstream, model);
      if (found !== null) void this.#ask(found);
    };
    knowledge.onChange = (upstream, model) => this.#learned(upstream, model);
    this.#calibrating = setInterval(() => void this.#calibrate(), CALIBRATIONS_MS);
    this.#calibrating.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#calibrating);
    this.#unsubscribe();
    this.#o.knowledge.onFirst = null;
    this.#o.knowledge.onChange = null;
    await Promise.all([this.#tell(), this.#calibrate()]);
  }

  #modelOf(upstream: string, model: string): Model | null {
    const url = this.#o.urlOf(upstream);
    if (url === null) return null;
    const lessons = nameFor("lessons", url, model);
    const known = this.#models.get(lessons);
    if (known !== undefined) return known;
    const fresh = { upstream, model, lessons, calibration: nameFor("calibration", url, model), shared: 0, compared: 0 };
    const oldest = this.#models.size >= MOST_MODELS ? this.#models.keys().next().value : undefined;
    if (oldest !== undefined) this.#models.delete(oldest);
    this.#models.set(lessons, fresh);
    return fresh;
  }

  #learned(upstream: string, model: string): void {
    const found = this.#modelOf(upstream, model);
    if (found === null) return;
    this.#changed.add(found);
    this.#telling ??= setTimeout(() => void this.#tell(), SETTLE_MS).unref();
  }

  async #tell(): Promise<void> {
    if (this.#telling !== null) clearTimeout(this.#telling);
    this.#telling = null;
    const changed = [...this.#changed];
    this.#changed.clear();
    await Promise.all(
      changed.map(async (model) => {
        // What others have written meanwhile is not written over.
        await this.#askLessons(model);
        const { upstream, model: name, lessons } = model;
        const own = this.#o.knowledge.of(upstream, name);
        const told = await this.#o.store.ask("nobody", (redis) =>
          redis
            .pipeline()
            .set(lessons, JSON.stringify(own), "EX", KEEP_SECONDS)
            .publish(CHANNEL, JSON.stringify({ of: lessons, lessons: own }))
            .exec(),
        );
        // Redis is away: told with the next lesson, or calibration.
        if (told === AWAY) this.#changed.add(model);
      }),
    );
  }

  #heard(message: string): void {
    const told = asObject(parseJson(message));
    const model = this.#models.get(asString(told?.of) ?? "");
    const lessons = readLessons(told?.lessons);
    if (model !== undefined && lessons !== null) merge(this.#o.knowledge.of(model.upstream, model.model), lessons);
  }

  async #ask(model: Model): Promise<void> {
    await Promise.all([this.#askLessons(model), this.#askCalibration(model)]);
  }

  async #askLessons({ upstream, model, lessons }: Model): Promise<void> {
    const found = await this.#o.store.ask("nobody", (redis) => redis.get(lessons));
    const read = found === AWAY || found === null ? null : readLessons(parseJson(found));
    if (read !== null) merge(this.#o.knowledge.of(upstream, model), read);
  }

  /** The calibration that rests on more replies stands. */
  async #askCalibration(model: Model): Promise<void> {
    const { counter, store } = this.#o;
    const found = await store.ask("nobody", (redis) => redis.get(model.calibration));
    if (found === AWAY || found === null) return;
    const own = this.#calibrationOf(model) ?? startOf(familyOf(model.model));
    const read = readCalibration(parseJson(found), own);
    if (read === null) return;
    model.shared = read.replies;
    if (read.replies > own.replies) counter.restore(model.upstream, model.model, read);
  }

  async #calibrate(): Promise<void> {
    if (this.#changed.size > 0) await this.#tell();
    for (const model of this.#models.values()) {
      const replies = this.#calibrationOf(model)?.replies ?? 0;
      if (replies === model.compared) continue;
      model.compared = replies;
      await this.#askCalibration(model);
      const calibration = this.#calibrationOf(model);
      if (calibration === null || calibration.replies <= model.shared) continue;
      const text = JSON.stringify(calibration);
      const told = await this.#o.store.ask("nobody", (redis) => redis.set(model.calibration, text, "EX", KEEP_SECONDS));
      if (told === AWAY) return;
      model.shared = calibration.replies;
    }
  }

  #calibrationOf({ upstream, model }: Model): Calibration | null {
    return this.#o.counter.calibration(upstream, model);
  }
}
