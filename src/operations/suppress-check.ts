import { findSuppressions } from '../campaign/read-suppressions.ts';
import { type Diagnostic, EXIT } from '../errors.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { SuppressionAnswer, SuppressionEntry } from '../model.ts';
import { type HashKeyState, hashKeyState, readSuppressions } from '../plan/suppression.ts';
import { sourcesOf } from '../plan/suppression-lists.ts';
import { instant, number } from '../report/words.ts';
import { readHasher } from '../suppression/key.ts';
import { diagnosticRecord } from '../util/diagnostic-record.ts';
import { formatDiagnostics } from '../util/diagnostic-text.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { jsonText, safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';
import { checkHashes, countryOf, type Named, readEach } from './suppress-addresses.ts';
import { answer, listsOfCampaigns } from './suppress-answers.ts';

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
  /** One for each address that was asked about, in their order; absent where none was. */
  readonly answers?: readonly SuppressionAnswer[];
}

/**
 * `handbill suppress check`: exit status 2 where a campaign would be refused, or an address is none; whether an address is
 * suppressed does not change it.
 */
export async function checkAll(
  addresses: readonly string[],
  given: CheckOptions,
  context: CommandContext,
): Promise<void> {
  const { checked, total } = await checkSuppressions(context, given.ledger, addresses);
  if (given.format === 'json') await context.out(asJson(checked));
  else {
    if (checked.answers !== undefined) for (const one of checked.answers) await context.out(answerText(one));
    else if (given.quiet !== true || total > 0) await context.out(asText(checked));
    if (total > 0) context.err(formatDiagnostics(checked.problems, { colour: context.colour.err, limit: 20, total }));
  }
  context.exit(total > 0 ? EXIT.refused : EXIT.done);
}

/**
 * Reads the lists that handbill.yaml names and looks into the ledger. For addresses that are asked about, the lists of the
 * campaigns are read too; else `validate` does that.
 *
 * @throws HandbillError exit 2 with everything that is no address, and for hashes without their key; 7 (ledger)
 */
export async function checkSuppressions(
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
  option?: string,
  addresses: readonly string[] = [],
): Promise<{ readonly checked: SuppressionCheck; readonly total: number }> {
  const reading = await projectHere(context, option);
  const { project } = reading;
  const { root } = project;
  const named = readEach(addresses, countryOf(reading));
  await checkHashes(
    named.flatMap((one) => ('hash' in one ? [one.hash] : [])),
    project,
    context,
  );
  const found = await findSuppressions(null, reading, { root, folder: root, cwd: context.cwd });
  const listed = {
    suppressions: found.files,
    recipients: { defaultCountry: countryOf(reading) },
    project,
  };
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  try {
    const held = ledger ?? { path: placeOfLedger(project.ledger, context.cwd), ...NO_LEDGER };
    const { problem, ...state } = await hashKeyState(project, context.env, held);
    const own = sourcesOf(listed).map((source) => ({ ...source, campaigns: null }));
    const answered =
      named.length === 0
        ? { found: [], ...(await readSuppressions(listed, context.env)).faults }
        : await answer(
            named,
            {
              ledger,
              lists: [...own, ...(await listsOfCampaigns(project, context))],
              reading: await readHasher(project.suppressionKey, context.env, root),
            },
            context.now(),
          );
    const problems = [...found.diagnostics, ...answered.diagnostics, ...(problem === null ? [] : [problem])];
    const total = found.diagnostics.length + answered.total + (problem === null ? 0 : 1);
    const { addresses: count } = held.suppressionCounts();
    const files = found.files.map(({ file }) => file);
    const answers = named.map((one, i) => answerOf(one, answered.found[i] ?? [], total === 0));
    const checked = { version: 1 as const, addresses: count, ...state, files, problems };
    return { checked: named.length === 0 ? checked : { ...checked, answers }, total };
  } finally {
    ledger?.close();
  }
}

function answerOf(named: Named, entries: readonly SuppressionEntry[], isComplete: boolean): SuppressionAnswer {
  const isSuppressed = entries.some(({ active, campaigns }) => active && campaigns === null);
  const address = 'address' in named ? named.address : null;
  const suppressed = isSuppressed ? true : isComplete ? false : null;
  return { given: named.given, address, suppressed, entries };
}

/** The address is shown as it was given: who asks has it. */
function answerText({ given, address, suppressed, entries }: SuppressionAnswer): string {
  const also = address === null || address === given ? '' : ` (${safeLine(address)})`;
  const only = new Set(entries.flatMap(({ active, campaigns }) => (active ? (campaigns ?? []) : [])));
  const verdict =
    suppressed === true ? 'suppressed' : suppressed === null ? 'unknown, see the problems' : 'not suppressed';
  const said = suppressed !== true && only.size > 0 ? `suppressed in ${[...only].join(', ')} only` : verdict;
  return [`${safeLine(given)}${also}: ${said}`, ...entries.map((one) => `  ${entryText(one)}`), ''].join('\n');
}

function entryText({ list, line, hashed, reason, since, until, source, active }: SuppressionEntry): string {
  const end = until === null ? 'no end' : `${active ? 'until' : 'ended'} ${instant(until)}`;
  const facts = [
    ...(since === null ? [] : [`since ${instant(since)}`]),
    end,
    ...(hashed ? ['as a hash'] : []),
    ...(reason === null ? [] : [`reason: ${safeLine(reason)}`]),
    ...(source === null ? [] : [`added by: ${safeLine(source)}`]),
  ];
  return `${safeLine(line === null ? list : `${list}:${line}`)}: ${facts.join(', ')}`;
}

const NO_LEDGER = { hashKeyId: () => null, suppressionCounts: () => ({ addresses: 0, hashes: 0 }) };

/** Diagnostics as `validate --format json` has them. */
function asJson(checked: SuppressionCheck): string {
  const document = { ...checked, problems: checked.problems.map(diagnosticRecord) };
  return `${jsonText(document, 2)}\n`;
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
