import { join } from 'node:path';
import { decodeUtf8 } from '../../campaign/named-file.ts';
import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import {
  DOUBTS,
  doubtsOf,
  type Named,
  RESOLVE_DOUBTS,
  type RecordedVerdict,
  type ResolveDoubtsQuestion,
  recordVerdict,
  runsNamed,
  userHere,
} from '../../operations/doubt.ts';
import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { projectHere, sayLedger, withLedger } from '../../operations/project.ts';
import { nameInLedger, PLAN_FILE } from '../../operations/report.ts';
import { leftToSend, sendCommand } from '../../report/next-steps.ts';
import { countOf } from '../../report/words.ts';
import { unguardCell } from '../../util/csv.ts';
import { safe, safeLine } from '../../util/escape.ts';
import { LIST_FORMATS } from '../../util/list-text.ts';
import { nextCommand } from '../../util/next-command.ts';
import { isTest } from '../../util/occurrence-name.ts';
import { displayPath, readNamedFile } from '../../util/paths.ts';
import type { Flags } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { askYes } from '../shared/prompt.ts';
import { doubtTable, formatDoubts } from './formats.ts';

const LIST_FLAGS = {
  full: { flag: '--full', says: 'show whole addresses and all recipients in text too' },
  ...DOUBTS,
  ...WRITING,
  format: formatOption(LIST_FORMATS),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

async function list(
  context: CommandContext,
  given: Flags<typeof LIST_FLAGS>,
  named: string | undefined,
): Promise<void> {
  await withLedger(given, async (ledger, reading) => {
    const resolved = given.resolved === true;
    const known = await nameInLedger(named ?? null, ledger, reading);
    const runs = runsNamed(ledger, known).map((run) => doubtsOf(ledger, run, reading.project, resolved));
    const text = formatDoubts(given.format, runs, {
      colour: context.colour.out && given.output === undefined,
      width: context.tableWidth ?? context.width,
      full: given.full === true,
      resolved,
      timeZone: reading.project.timeZone,
    });
    await writeResult(text, given, context);
  });
}

const RESOLVE_FLAGS = {
  as: { flag: '--as <outcome>', says: 'what the API made of the message', choices: ['accepted', 'rejected'] },
  resend: { flag: '--resend', says: 'the next send posts to them once more' },
  key: { flag: '--key <key...>', says: 'who: recipient keys, references or addresses' },
  from: { flag: '--from <file>', says: 'who: a file with one key, reference or address a line' },
  ...RESOLVE_DOUBTS,
  by: OPTIONS.by,
  yes: { flag: '--yes', says: 'do it without asking' },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

type ResolveFlags = Flags<typeof RESOLVE_FLAGS>;

async function resolve(context: CommandContext, given: ResolveFlags, named: string): Promise<void> {
  const quiet = given.quiet === true;
  const { timeZone } = projectHere(given).project;
  const result = await recordVerdict(named, {
    ...given,
    verdict: verdictOf(given),
    names: [...(given.key ?? []).map((name) => ({ name })), ...namesIn(given.from, context.cwd)],
    by: given.by ?? userHere(),
    confirm: async (question) => {
      if (given.yes !== true || !quiet) context.err(stating(question, context.width, timeZone));
      return given.yes === true || (await askYes('Type "yes" to record this', context));
    },
  });
  if (quiet) return;
  await context.out(said(result, verdictOf(given), context));
  if (result.resolved.length > 0) await sayLedger(context, given.ledger);
}

export const COMMANDS = {
  list: { FLAGS: LIST_FLAGS, run: list },
  resolve: { FLAGS: RESOLVE_FLAGS, run: resolve },
};

function verdictOf({ as, resend }: ResolveFlags): 'accepted' | 'rejected' | 'resend' {
  if (as !== undefined && resend === undefined) return as;
  if (as === undefined && resend === true) return 'resend';
  const hint = '--as accepted and --as rejected record what the API made of it; --resend sends once more.';
  throw refuse(problem('usage', 'Say either --as or --resend.', { hint }));
}

const MOST_BYTES = 64 << 20;

/** One name a line, also as a column cut out of a CSV of handbill; skips blank lines. */
function namesIn(file: string | undefined, cwd: string): readonly Named[] {
  if (file === undefined) return [];
  const decoded = decodeUtf8(readNamedFile(cwd, file, MOST_BYTES), file);
  if ('problem' in decoded) throw refuse(decoded.problem);
  const names = decoded.text.split(/\r\n|\n|\r/).map((line, index) => {
    const text = line.trim();
    const cell = /^"((?:[^"]|"")*)"$/.exec(text)?.[1]?.replaceAll('""', '"');
    return { name: unguardCell(cell ?? text), at: { file, line: index + 1 } };
  });
  const named = names.filter(({ name }) => name !== '');
  if (named.length > 0) return named;
  throw refuse(problem('usage', 'The file has no names.', { at: { file }, hint: 'Write one name a line.' }));
}

const SHOWN = 20;

function stating({ verdict, doubts }: ResolveDoubtsQuestion, width: number, timeZone: string): string {
  const [first] = doubts;
  if (first === undefined) return '';
  const { run, environment, occurrence } = first;
  const who = `${countOf(doubts.length, 'recipient')} of run ${safeLine(run)} (${safeLine(environment)}, ${safeLine(occurrence)})`;
  const rows = doubtTable(doubts.slice(0, SHOWN), { full: false, resolved: false, width, timeZone });
  const more = doubts.length > SHOWN ? `  ... and ${doubts.length - SHOWN} more.\n` : '';
  return `${who}: ${MEANING[verdict]}\n${rows}${more}`;
}

const MEANING = {
  accepted: 'recorded as accepted. They are never sent to again.',
  rejected: 'recorded as rejected. They are sent to again only with --retry rejected.',
  resend: 'the next send posts once more. Recipients who got the first message get a second one.',
} as const;

function said(
  { resolved, run, report, root, takesPlans, isTooLate }: RecordedVerdict,
  verdict: 'accepted' | 'rejected' | 'resend',
  context: CommandContext,
): string {
  if (resolved.length === 0) return `No recipients are in doubt in run ${safeLine(run.id)}.\n`;
  const written = run.inputs.find(({ role }) => role === 'campaign')?.file;
  const campaign = written === undefined ? run.name : displayPath(join(root, written), context.cwd);
  const { inDoubt } = report.totals;
  const done = verdict === 'resend' ? 'will be sent to once more' : `recorded as ${verdict}`;
  const left = inDoubt === 0 ? 'No recipients are' : `${countOf(inDoubt, 'recipient')} still`;
  const lines = [`${countOf(resolved.length, 'recipient')} ${done}. ${left} in doubt.`];
  if (inDoubt > 0) lines.push(`Who is left:  ${nextCommand('doubt', 'list', run.id)}`);
  if (leftToSend(report) > 0 && !isTest(report.occurrence)) {
    const late = isTooLate ? ' --allow too-late' : '';
    lines.push(`To send on:   ${sendCommand(report, campaign, takesPlans ? PLAN_FILE : null)}${late}`);
  }
  return safe(`${lines.join('\n')}\n`);
}
