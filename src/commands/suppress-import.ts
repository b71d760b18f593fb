import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { openLedger } from '../ledger/open.ts';
import type { HashEntry, SuppressEntry } from '../ledger/records.ts';
import { createKeyCheck } from '../plan/suppression.ts';
import { readSuppressionList } from '../plan/suppression-lists.ts';
import { readHasher } from '../suppression/key.ts';
import { displayPath, findFileAnywhere } from '../util/paths.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';
import { countryOf } from './suppress-addresses.ts';
import type { ChangeOptions } from './suppress-change.ts';

/** `handbill suppress import`: one transaction, so that an import that fails or is killed leaves nothing behind. */
export async function importFile(written: string, given: ChangeOptions, context: CommandContext): Promise<void> {
  const reading = await projectHere(context, given.ledger);
  const { project } = reading;
  const found = await findFileAnywhere(context.cwd, written);
  if ('fault' in found) {
    const { code, message, hint } = found.fault;
    throw refuse(problem(code, message, hint === undefined ? {} : { hint }));
  }
  const file = displayPath(found.path, context.cwd);
  const addresses: SuppressEntry[] = [];
  const hashes: HashEntry[] = [];
  const keys = createKeyCheck(file, await readHasher(project.suppressionKey, context.env, project.root));
  const source = { path: found.path, file, defaultCountry: countryOf(reading), timeZone: project.timeZone };
  const faults = await readSuppressionList(source, {
    address: (address, untilMs, reason) => addresses.push({ address, untilMs, reason, source: file }),
    hash(hash, untilMs, reason, line) {
      keys.see(hash.keyId, line);
      hashes.push({ ...hash, untilMs, reason, source: file });
    },
  });
  const others = keys.faults();
  if (faults.total + others.total > 0) {
    throw new HandbillError(EXIT.refused, [...faults.diagnostics, ...others.diagnostics], faults.total + others.total);
  }
  const nowMs = context.now();
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    const added = ledger.suppressAll(addresses, hashes, nowMs);
    const all = addresses.length + hashes.length;
    const said = `${all} ${all === 1 ? 'entry' : 'entries'} read from ${file}, ${added} new.\n`;
    if (given.quiet !== true) await context.out(said);
  } finally {
    ledger.close();
  }
}
