import { EXIT, type ExitStatus } from '../errors.ts';

/** Signals while a run is going: the first ends it in good order (I2), the second at once (I3). */
export interface Signals {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
  /** The exit status of the first signal; null when none came. */
  status(): ExitStatus | null;
  stop(): void;
}

const STATUS: ReadonlyMap<NodeJS.Signals, ExitStatus> = new Map([
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
  ['SIGHUP', EXIT.hangup],
]);

export function watchSignals(say: (text: string) => void): Signals {
  const first = new AbortController();
  const second = new AbortController();
  let status: ExitStatus | null = null;
  const listener = (signal: NodeJS.Signals): void => {
    if (status !== null) {
      second.abort();
      return;
    }
    status = STATUS.get(signal) ?? EXIT.interrupted;
    say('\nFinishing what is in flight; once more to stop at once.\n');
    first.abort();
  };
  for (const signal of STATUS.keys()) process.on(signal, listener);
  return {
    first: first.signal,
    second: second.signal,
    status: () => status,
    stop: () => {
      for (const signal of STATUS.keys()) process.off(signal, listener);
    },
  };
}
