import { problem } from '../../errors.ts';
import type { Param, Value } from '../connection.ts';
import { LedgerError } from '../ledger-error.ts';
import type { Bridge } from './bridge.ts';

/** Longest that a server may take to be reached, and to answer the first questions. */
export const CONNECT_MS = 15_000;

/** A server that is asked whether its ledger can be used. */
export interface AskedServer {
  readonly bridge: Bridge;
  /** The address as people may see it. */
  readonly path: string;
}

/** SQLSTATE of a user, a password or a database that is not right: it will not be in a moment either. */
const REFUSED = /^(?:28|3D|42)/;

/** @returns the first row of the answer */
export function ask(
  { bridge, path }: AskedServer,
  text: string,
  values: readonly Param[] = [],
  waitMs = CONNECT_MS,
): readonly Value[] | undefined {
  const said = bridge.ask({ text, values }, waitMs);
  if (said !== null && !('error' in said)) return said.rows[0];
  const why = said === null ? `no answer within ${waitMs / 1000} s` : said.error.message;
  const hint = 'Look at the address, at its user and password (PGPASSWORD, ~/.pgpass), and whether the server is up.';
  const message = `The shared ledger cannot be opened: ${why}.`;
  const kind = said !== null && 'error' in said && REFUSED.test(said.error.code ?? '') ? 'other' : 'io';
  throw new LedgerError(kind, problem('ledger-unusable', message, { at: { file: path }, hint }));
}
