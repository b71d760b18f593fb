/** Ends with `close`, the signal or a failure, whichever is first. `failed` resolves with the reason. Closes once. */
export function closedBy(
  stop: () => Promise<void>,
  signal: AbortSignal | undefined,
  failed: Promise<Error> = new Promise(() => undefined),
): AsyncDisposable & { readonly closed: Promise<void>; close(): Promise<void> } {
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  // The caller need not await it: what cannot be stored is logged as well.
  closed.catch(() => undefined);
  let stopping: Promise<void> | null = null;
  const close = (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    stopping ??= stop().then(resolve, (error: unknown) => {
      reject(error);
      throw error;
    });
    return stopping;
  };
  // The error of a stop that a signal asked for is that of `closed`.
  const onAbort = (): void => void close().catch(() => undefined);
  void failed.then(reject);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { closed, close, [Symbol.asyncDispose]: close };
}
