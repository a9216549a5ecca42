/** Resolves after so many milliseconds, or when it is woken. */
export function sleep(ms: number, onWake: (wakes: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
