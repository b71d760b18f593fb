/**
 * Makes something when it is first asked for, and keeps it. For what takes milliseconds that most starts need not spend:
 * the tables behind `Intl` (5 to 15 ms each), packages for rare cases.
 */
export function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
