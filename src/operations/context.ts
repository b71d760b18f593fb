import type { Readable } from 'node:stream';
import type { ExitStatus } from '../errors.ts';
import type { Telemetry } from './observer.ts';

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
  /** Columns for tables on stdout: Infinity where it is no terminal, so that nothing is cut. Default: `width`. */
  readonly tableWidth?: number;
  /** stdout is a terminal, which obeys what stands in a result. Default: it is none. */
  readonly outIsTerminal?: boolean;
  /** Somebody can be asked (stdin and stderr are terminals). */
  readonly interactive: boolean;
  /** The terminal itself, for what asks and what draws; absent where stderr is none. */
  readonly terminal?: Terminal;
  /** The exit status; the last call counts. */
  readonly exit: (status: ExitStatus) => void;
  /** Whoever wants to know what the command does: a log, OpenTelemetry, a metrics file; absent where nobody does. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * Takes what is to be done when everything has been printed. Where it answers false, something is left open that the
   * process does not wait for. Default: it is done before the command returns.
   */
  readonly beforeExit?: (work: () => Promise<boolean>) => void;
}

/** Where somebody sits. What is drawn is cleared of keys, like all that is printed. */
export interface Terminal {
  /** The keyboard. */
  readonly input: Readable;
  /** Of the screen as it is now, in characters; a window may be resized at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Calls back after each change of the size; what it returns ends that. */
  readonly onResize: (listener: () => void) => () => void;
  readonly platform: NodeJS.Platform;
  /** stdout is a pipe: whoever reads it may have this screen (`| less`). */
  readonly isPiped: boolean;
  /** Draws as it is, over whatever stands there. */
  readonly draw: (text: string) => void;
  /** Calls back before anything else is printed here, so that what was drawn can go; null ends that. */
  readonly beforePrint: (clear: (() => void) | null) => void;
}
