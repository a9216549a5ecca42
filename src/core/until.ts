/** Settles as the promise does, or rejects with the signal's reason as soon as that aborts. */
export function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    const settled = () => signal.removeEventListener("abort", abort);
    promise.then(resolve, reject).finally(settled);
  });
}
