/** The named options that were given, so that absent ones stay absent. */
export function given<O extends object, K extends keyof O>(options: O, ...names: readonly K[]): Pick<O, K> {
  return Object.fromEntries(names.flatMap((n) => (options[n] === undefined ? [] : [[n, options[n]]]))) as Pick<O, K>;
}
