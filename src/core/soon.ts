/**
 * Goes on with a value that is nearly always there: at once then, without the promises that waiting for it would cost.
 * What `then` throws is thrown where it runs: at the call, or as the promise's rejection.
 */
export function soon<T, U>(value: T | Promise<T>, then: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
