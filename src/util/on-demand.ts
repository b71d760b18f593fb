/** For what takes milliseconds that most starts need not spend: tables of `Intl` (5 to 15 ms each), rare packages. */
export function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
