/**
 * Bayesian linear regression, one observation at a time: what each feature of a prompt costs, and how sure that is.
 * Plain numbers, so that it can be saved and shared.
 */
export interface Belief {
  /** Cost per unit of each feature. */
  readonly mean: number[];
  /** Covariance of the costs, row by row. */
  readonly covariance: number[];
}

/** Independent beliefs: `mean` with a standard deviation of `spread` each. */
export function belief(mean: readonly number[], spread: readonly number[]): Belief {
  const size = mean.length;
  const covariance = new Array<number>(size * size).fill(0);
  for (let i = 0; i < size; i++) covariance[i * size + i] = (spread[i] ?? 0) ** 2;
  return { mean: [...mean], covariance };
}

/** The expected cost of `features`. */
export function expected(belief: Belief, features: readonly number[]): number {
  return dot(belief.mean, features);
}

/** The expected cost of `features`, and the variance that is left in it from not knowing the costs. */
export function predict(
  belief: Belief,
  features: readonly number[],
): { readonly mean: number; readonly variance: number } {
  const along = times(belief, features);
  return { mean: dot(belief.mean, features), variance: Math.max(0, dot(along, features)) };
}

/** What is believed after `features` were seen to cost `cost`, give or take the standard deviation sqrt(`noise`). */
export function observe(belief: Belief, features: readonly number[], cost: number, noise: number): Belief {
  const size = belief.mean.length;
  const along = times(belief, features);
  const total = dot(along, features) + noise;
  const surprise = (cost - dot(belief.mean, features)) / total;
  const mean = belief.mean.map((value, i) => value + (along[i] ?? 0) * surprise);
  const covariance = belief.covariance.slice();
  for (let i = 0; i < size; i++) {
    const scaled = (along[i] ?? 0) / total;
    if (scaled === 0) continue;
    for (let j = 0; j < size; j++)
      covariance[i * size + j] = (covariance[i * size + j] ?? 0) - scaled * (along[j] ?? 0);
  }
  return { mean, covariance };
}

/** Covariance times features. Features are mostly zero. */
function times(belief: Belief, features: readonly number[]): number[] {
  const size = belief.mean.length;
  const out = new Array<number>(size).fill(0);
  for (let j = 0; j < size; j++) {
    const feature = features[j] ?? 0;
    if (feature === 0) continue;
    for (let i = 0; i < size; i++) out[i] = (out[i] ?? 0) + (belief.covariance[i * size + j] ?? 0) * feature;
  }
  return out;
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
