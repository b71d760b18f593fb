import { EXIT, type ExitStatus } from '../../errors.ts';

/** Signals to a command that has something to clear up, and nothing to finish. */
export interface Interrupts {
  readonly signal: AbortSignal;
  /** The exit status of the signal that came; null when none did. */
  status(): ExitStatus | null;
  stop(): void;
}

const STATUS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangup } as const;

/** Watches for the first signal; a second one ends the process at once. */
export function watchInterrupts(): Interrupts {
  const controller = new AbortController();
  let status: ExitStatus | null = null;
  const names = Object.keys(STATUS) as (keyof typeof STATUS)[];
  const listener = (name: NodeJS.Signals): void => {
    status ??= STATUS[name as keyof typeof STATUS];
    stop();
    controller.abort();
  };
  const stop = (): void => {
    for (const name of names) process.off(name, listener);
  };
  for (const name of names) process.on(name, listener);
  return { signal: controller.signal, status: () => status, stop };
}
