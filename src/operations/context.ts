import type { Readable } from 'node:stream';
import type { ExitStatus } from '../errors.ts';
import type { Telemetry } from './observer.ts';

/** The process, as commands see it; handed in, so that nothing else touches `process`. */
export interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Wall clock, milliseconds since 1970. */
  readonly now: () => number;
  /** Results. Resolves when it may go on (back-pressure); never rejects when the reader has gone. */
  readonly out: (text: string) => Promise<void> | void;
  /** Puts into the first piece of a result what must be known about all of it; `out` has done so. Default: nothing. */
  readonly stamp?: (piece: string) => string;
  /** Diagnostics and progress. */
  readonly err: (text: string) => void;
  readonly colour: { readonly out: boolean; readonly err: boolean };
  /** Columns of the terminal, 80 without one. */
  readonly width: number;
  /** Columns for tables on stdout: Infinity if it is not a terminal, so that nothing is cut. Default: `width`. */
  readonly tableWidth?: number;
  /** stdout is a terminal, which would obey control characters in a result. Default: false. */
  readonly outIsTerminal?: boolean;
  /** The user can be asked (stdin and stderr are terminals). */
  readonly interactive: boolean;
  /** The terminal itself, for prompts and drawings; absent if stderr is not a terminal. */
  readonly terminal?: Terminal;
  /** The exit status; the last call counts. */
  readonly exit: (status: ExitStatus) => void;
  /** Follows what the command does: a log, a metrics file; absent if neither is configured. */
  readonly telemetry?: Telemetry | undefined;
}

/** The terminal of a user. What is drawn is cleared of keys, like all that is printed. */
export interface Terminal {
  readonly input: Readable;
  /** In characters; the user may resize a window at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Calls back after each change of the size; what it returns ends that. */
  readonly onResize: (listener: () => void) => () => void;
  readonly platform: NodeJS.Platform;
  /** stdout is a pipe: the program that reads it may use this screen (`| less`). */
  readonly isPiped: boolean;
  /** Draws the text unchanged, over what the screen shows. */
  readonly draw: (text: string) => void;
  /** Calls back before anything else is printed here, so that what was drawn can be cleared; null ends that. */
  readonly beforePrint: (clear: (() => void) | null) => void;
}
