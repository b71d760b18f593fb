/** Works on items, `width` at a time; results in their order. */
export async function inLanes<T, R>(
  width: number,
  items: Iterable<T>,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items[Symbol.iterator]();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = queue.next(); item.done !== true; item = queue.next()) {
      const at = next++;
      results[at] = await work(item.value);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
