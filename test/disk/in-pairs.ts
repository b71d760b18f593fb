/** Does the same with each of them, two at a time: what the tests start are processes, and machines have few cores. */
export async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
