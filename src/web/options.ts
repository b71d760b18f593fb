import { type OptionsOf, type OptionTable, PORT, type ProjectOptions } from '../operations/options.ts';

/** The options of `serve` that programs have too. */
export const SERVE = {
  port: { flag: '--port <port>', says: 'TCP port; 0 takes a free one', range: PORT, preset: 4012 },
  host: { flag: '--host <address>', says: 'address to listen on', kind: 'host', preset: '127.0.0.1' },
  allowActions: {
    flag: '--allow-actions',
    says: 'a person who opens the printed address may pause, resolve doubts, review replies, change suppressions',
  },
  open: { flag: '--open', says: 'every user of this machine may read without the printed address' },
  allowRemote: {
    flag: '--allow-remote <name...>',
    says: 'names under which other machines open the pages',
    more: 'Needed if `host` can be reached by other machines. Nothing that is sent is encrypted.',
    without: 'none',
    kind: 'host',
  },
  campaigns: { flag: '--campaigns <path...>', says: 'campaigns to show (default: those of the project)' },
} as const satisfies OptionTable;

/** Which pages are served, and for which hosts. */
export interface ServeOptions extends ProjectOptions, OptionsOf<typeof SERVE> {
  /** IANA name for times. Default: that of the project. */
  readonly timeZone?: string;
  /** Closes it, open streams of events too. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called with a line for what went wrong; it holds nothing that a reader wrote. */
  readonly log?: (line: string) => void;
}
