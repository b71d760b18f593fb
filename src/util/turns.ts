/** How long one piece of work may block all others. */
const LONGEST_MS = 12;

/** Lets others go on, where this has taken long enough: to be awaited between two steps of something long. */
export function createTurns(): () => Promise<void> | undefined {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < LONGEST_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        beganMs = performance.now();
        resolve();
      });
    });
  };
}
