import { findSuppressions } from '../campaign/read-suppressions.ts';
import { type Diagnostic, EXIT } from '../errors.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { type HashKeyState, hashKeyState, readSuppressions } from '../plan/suppression.ts';
import { number } from '../report/words.ts';
import { diagnosticRecord } from '../util/diagnostic-record.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';
import { countryOf } from './suppress-addresses.ts';

export interface CheckOptions {
  readonly ledger?: string;
  readonly format: 'text' | 'json';
  readonly quiet?: true;
}

/** What the lists of a project hold, and what would keep its campaigns from being sent. */
export interface SuppressionCheck extends Omit<HashKeyState, 'problem'> {
  readonly version: 1;
  /** In the ledger, as they stand. */
  readonly addresses: number;
  readonly files: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/** `handbill suppress check`: exit status 2 where a campaign would be refused. */
export async function checkAll(given: CheckOptions, context: CommandContext): Promise<void> {
  const { checked, total } = await checkSuppressions(context, given.ledger);
  if (given.format === 'json') await context.out(asJson(checked));
  else {
    if (given.quiet !== true || total > 0) await context.out(asText(checked));
    if (total > 0) context.err(formatDiagnostics(checked.problems, { colour: context.colour.err, limit: 20, total }));
  }
  context.exit(total > 0 ? EXIT.refused : EXIT.done);
}

/** Reads the lists that handbill.yaml names and looks into the ledger; campaigns may name more, which `validate` reads. */
export async function checkSuppressions(
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
  option?: string,
): Promise<{ readonly checked: SuppressionCheck; readonly total: number }> {
  const reading = await projectHere(context, option);
  const { project } = reading;
  const { root } = project;
  const found = await findSuppressions(null, reading, { root, folder: root, cwd: context.cwd });
  const recipients = { defaultCountry: countryOf(reading) };
  const { faults } = await readSuppressions({ suppressions: found.files, recipients, project }, context.env);
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  try {
    const held = ledger ?? { path: placeOfLedger(project.ledger, context.cwd), ...NO_LEDGER };
    const { problem, ...state } = await hashKeyState(project, context.env, held);
    const problems = [...found.diagnostics, ...faults.diagnostics, ...(problem === null ? [] : [problem])];
    const { addresses } = held.suppressionCounts();
    const files = found.files.map(({ file }) => file);
    const total = found.diagnostics.length + faults.total + (problem === null ? 0 : 1);
    return { checked: { version: 1, addresses, ...state, files, problems }, total };
  } finally {
    ledger?.close();
  }
}

const NO_LEDGER = { hashKeyId: () => null, suppressionCounts: () => ({ addresses: 0, hashes: 0 }) };

/** Diagnostics as `validate --format json` has them. */
function asJson(checked: SuppressionCheck): string {
  const document = { ...checked, problems: checked.problems.map(diagnosticRecord) };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function asText({ addresses, hashes, keyId, ownKeyId, files }: SuppressionCheck): string {
  const under = keyId === null ? '' : ` (key ${keyId})`;
  const lines = [
    `Ledger  ${number(addresses)} ${addresses === 1 ? 'address' : 'addresses'}, ${number(hashes)} ${hashes === 1 ? 'hash' : 'hashes'}${under}`,
    `Files   ${files.length === 0 ? 'none in handbill.yaml' : files.map(safeLine).join(', ')}`,
    `Key     ${ownKeyId === null ? 'not there' : `${ownKeyId}${keyId === null || keyId === ownKeyId ? '' : ', another one'}`}`,
  ];
  return `${lines.join('\n')}\n`;
}
