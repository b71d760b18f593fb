import type { Ledger } from '../ledger/ledger.ts';
import { kindOf } from '../suppression/form.ts';
import { type Hasher, writeHash } from '../suppression/hash.ts';
import { csvCell } from '../util/csv-cell.ts';

type Lists = Pick<Ledger, 'suppressions' | 'suppressedHashes'>;

/** In the form of a suppression file, so that one project's list can be another's. */
export function* asCsv(lists: Lists): Generator<string> {
  yield 'msisdn,email,contact,hash,reason,until\r\n';
  for (const { address, reason, untilMs } of lists.suppressions()) {
    const kind = kindOf(address);
    const addresses = (['msisdn', 'email', 'contact'] as const).map((one) => (one === kind ? address : null));
    yield line(...addresses, null, reason, untilOf(untilMs));
  }
  for (const { reason, untilMs, ...hash } of lists.suppressedHashes()) {
    yield line(null, null, null, writeHash(hash), reason, untilOf(untilMs));
  }
}

/** The same as hashes, to be shared: without reasons, which may say who somebody is. */
export function* asHashes(lists: Lists, { keyId, hash }: Hasher): Generator<string> {
  yield 'hash,until\r\n';
  for (const { address, untilMs } of lists.suppressions()) {
    yield line(writeHash({ keyId, hash: hash(address) }), untilOf(untilMs));
  }
  for (const { untilMs, ...written } of lists.suppressedHashes()) yield line(writeHash(written), untilOf(untilMs));
}

function line(...cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function untilOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
