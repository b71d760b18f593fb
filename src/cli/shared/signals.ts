import { EXIT, type ExitStatus, HandbillError } from '../../errors.ts';

/** The first signal ends a run in order (failures.md, I2), the second or SIGQUIT at once (failures.md, I3). */
interface Signals extends Disposable {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
  /** The exit status of the first signal; null when none came. */
  status(): ExitStatus | null;
  /** Once a signal came, those that follow are still taken: the process is ending already. */
  [Symbol.dispose](): void;
}

const STATUS: ReadonlyMap<NodeJS.Signals, ExitStatus> = new Map<NodeJS.Signals, ExitStatus>([
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
  ['SIGHUP', EXIT.hangup],
  // Ctrl-\ is an interrupt that does not wait.
  ['SIGQUIT', EXIT.interrupted],
]);

export function watchSignals(say: (text: string) => void): Signals {
  const first = new AbortController();
  const second = new AbortController();
  let status: ExitStatus | null = null;
  const listener = (signal: NodeJS.Signals): void => {
    const atOnce = status !== null || signal === 'SIGQUIT';
    status ??= STATUS.get(signal) ?? EXIT.interrupted;
    first.abort();
    if (atOnce) second.abort();
    else say('\nFinishing what is in flight; once more to stop at once.\n');
  };
  const off = take([...STATUS.keys()], listener);
  return {
    first: first.signal,
    second: second.signal,
    status: () => status,
    [Symbol.dispose]() {
      if (status === null) off();
    },
  };
}

/** For commands with nothing to finish: a second signal ends the process at once. `status` is null without a signal. */
export function watchInterrupts(): Disposable & Pick<Signals, 'status'> & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let status: ExitStatus | null = null;
  const stop = take(['SIGINT', 'SIGTERM', 'SIGHUP'], (name) => {
    status ??= STATUS.get(name) ?? EXIT.interrupted;
    stop();
    controller.abort();
  });
  return { signal: controller.signal, status: () => status, [Symbol.dispose]: stop };
}

/** An error with the exit status of the signal that interrupted the command; any other error as it is. */
export function interruptedBy({ status }: Pick<Signals, 'status'>, error: unknown): unknown {
  if (!(error instanceof HandbillError && error.exit === EXIT.interrupted)) return error;
  return new HandbillError(status() ?? error.exit, error.diagnostics);
}

function take(names: readonly NodeJS.Signals[], listener: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, listener);
  return () => {
    for (const name of names) process.off(name, listener);
  };
}
