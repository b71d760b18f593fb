import type { ExitStatus } from '../errors.ts';

/** What a command needs of the process that it runs in; handed in, so that nothing else touches `process`. */
export interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Wall clock, milliseconds since 1970. */
  readonly now: () => number;
  /** Results. Resolves when it may go on (back-pressure); never rejects when the reader has gone. */
  readonly out: (text: string) => Promise<void> | void;
  /** Diagnostics and progress. */
  readonly err: (text: string) => void;
  readonly colour: { readonly out: boolean; readonly err: boolean };
  /** Columns of the terminal, 80 without one. */
  readonly width: number;
  /** Somebody can be asked (stdin and stderr are terminals). */
  readonly interactive: boolean;
  /** The exit status; the last call counts. */
  readonly exit: (status: ExitStatus) => void;
}
