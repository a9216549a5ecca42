/**
 * Takes one more key into a number that stands for all keys so far, in their order. 52 bits: enough to tell conversations apart,
 * nothing to rely on against somebody who looks for two that agree.
 */
export function mix(id: number, key: string): number {
  let low = id | 0;
  let high = Math.floor(id / HIGH);
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high + unit, 0x85ebca6b) ^ (low >>> 13);
  }
  return (high & 0xfffff) * HIGH + (low >>> 0);
}

const HIGH = 2 ** 32;
