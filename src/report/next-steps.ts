import type { ChangedRecipient, Halt, HaltRule, Report, SecondMessages } from '../model.ts';
import { envWords, nextCommand } from '../util/next-command.ts';
import { isTest } from '../util/occurrence-name.ts';
import { mask } from '../util/redact.ts';
import { utcText } from '../util/time.ts';
import { type Formats, PLAIN } from './locale.ts';
import { pausedScope, resumeCommand } from './pause-words.ts';
import { changedText } from './words.ts';

export interface NextStep {
  readonly text: string;
  /** Ready for a POSIX shell; null where no command helps. */
  readonly command: string | null;
}

/** A campaign as the user would name it on the command line, where its list was given by `--recipients` with that list. */
export type SentAs = string | { readonly campaign: string; readonly recipients: string };

/**
 * Steps after a run, the most urgent first; empty when nothing is left.
 * @param planFile the plan file as the user would name it, where the environment accepts approved plans only
 */
export function nextSteps(
  report: Report,
  campaign: SentAs,
  planPath: string | null = null,
  formats: Formats = PLAIN,
): readonly NextStep[] {
  const { totals, halt, state } = report;
  // Its recipients are no longer known.
  if (report.purgedAt !== undefined) return [];
  if (isTest(report.occurrence)) return testSteps(report, formats);
  if (report.closedAt !== undefined) return totals.inDoubt > 0 ? [doubtStep(report, formats)] : [];
  const again = sendCommand(report, campaign, planPath);
  const amended = planPath === null ? `${again} --allow input-changed` : null;
  const advice: NextStep[] = [];
  if (report.paused !== undefined) {
    const text = `Nothing is sent while ${pausedScope(report.paused)} is paused. This ends the pause:`;
    advice.push({ text, command: resumeCommand(report.paused) });
  }
  // The step above says how to end a pause.
  const halted = halt === null || halt.rule === 'paused' ? null : haltStep(halt, report, again, amended);
  if (halted !== null) advice.push(halted);
  if (totals.inDoubt > 0) advice.push(doubtStep(report, formats));
  if (state !== 'running') advice.push(...rejectedSteps(report, again, amended, formats));
  if (report.secondMessages !== undefined) advice.push(...refusedAgain(report.secondMessages, formats));
  if (report.changed !== undefined && state !== 'running') advice.push(changedStep(report.changed, again, formats));
  const left = leftOf(report, formats);
  if (left !== '' && state === 'running')
    advice.push({ text: `${left} The run goes on.`, command: nextCommand('report', report.run) });
  else if (left !== '' && halted?.command === null) advice.push({ text: left, command: null });
  // The step of a halt says how to go on.
  else if (left !== '' && halted === null)
    advice.push({ text: `${left} Running again continues with them:`, command: again });
  if (state !== 'running' && report.fallbacksDue !== undefined) {
    const count = report.fallbacksDue;
    const text =
      `Reports say that the message did not reach ${formats.count(count, 'recipient')}. ` +
      `Sending again sends ${count === 1 ? 'that one' : 'them'} the fallback:`;
    advice.push({ text, command: again });
  }
  if (report.replies !== undefined && report.replies.review > 0)
    advice.push(reviewStep(report.replies.review, formats));
  if (state !== 'running') advice.push(...waitSteps(report, again, amended, formats));
  if (state !== 'running' && undecidedOf(report) > 0) advice.push(winnerStep(report, again, formats));
  return advice.map((step, i) => {
    const isSaid = advice.slice(0, i).some(({ command }) => command !== null && command === step.command);
    return isSaid ? { text: step.text.replace(/:$/, ', as above.'), command: null } : step;
  });
}

/** A test is not continued: another one is sent instead. */
function testSteps({ halt, totals, state }: Report, formats: Formats): readonly NextStep[] {
  const doubts = `${formats.count(totals.inDoubt, 'tester')} in doubt: see whether the message arrived.`;
  const unsent = totals.recipients - totals.accepted - totals.inDoubt;
  const another = 'When the cause is gone, send another test. The list of the campaign was not touched.';
  const texts = [
    ...(halt === null ? [] : [halt.message]),
    ...(totals.inDoubt > 0 ? [doubts] : []),
    ...(unsent > 0 && state !== 'running' ? [another] : []),
  ];
  return texts.map((text) => ({ text, command: null }));
}

/** Recipients who wait until a person names the winner of a test: running again does not send to them. */
export function undecidedOf(report: Pick<Report, 'reasons'>): number {
  return countOf(report.reasons, 'deferred', 'winner-undecided');
}

export function leftToSend(report: Pick<Report, 'reasons' | 'totals'>): number {
  const { failed, pending, deferred } = report.totals;
  return failed + pending + deferred - undecidedOf(report);
}

const NAMED = 5;

function changedStep(changed: readonly ChangedRecipient[], again: string, formats: Formats): NextStep {
  const named = changed
    .slice(0, NAMED)
    .map(({ line, to, listTo }) => `line ${line} was ${changedText(mask(to), mask(listTo))}`);
  const more = changed.length > NAMED ? `, and ${formats.number(changed.length - NAMED)} more` : '';
  const who = `${formats.count(changed.length, 'recipient')} ${changed.length === 1 ? 'has' : 'have'} another address in the list than the message went to`;
  const text = `${who}: ${named.join(', ')}${more}.`;
  const due = changed.filter(({ outcome, sentBefore }) => outcome === 'accepted' && !sentBefore).length;
  if (due > 0) {
    return {
      text: `${text} This sends the message to the new address; it shows who, and asks:`,
      command: `${again} --retry corrected`,
    };
  }
  const why = changed.some(({ outcome }) => outcome === 'in-doubt')
    ? 'Find out first whether the message in doubt arrived.'
    : 'Both addresses were sent to: nothing is left to send.';
  return { text: `${text} ${why}`, command: null };
}

/** The totals count the message before, so nothing else shows that the second one did not go out. */
function refusedAgain({ refused }: SecondMessages, formats: Formats): readonly NextStep[] {
  if (refused === 0) return [];
  const who = formats.count(refused, 'recipient');
  return [
    { text: `The API refused the second message to ${who}: the outcome of the first one counts.`, command: null },
  ];
}

export function reviewStep(count: number, formats: Formats): NextStep {
  const text = `${formats.count(count, 'reply', 'replies')} may mean to opt out, and ${count === 1 ? 'waits' : 'wait'} for review:`;
  return { text, command: nextCommand('replies', 'review') };
}

function winnerStep(report: Report, again: string, formats: Formats): NextStep {
  const waiting = undecidedOf(report);
  const names = report.variants?.map(({ name }) => name) ?? [];
  const which = names.length === 0 ? '' : ` (${names.join(', ')})`;
  const who = `${waitWords(waiting, formats)} for the variant that wins the test.`;
  if (report.winnerAt !== undefined) {
    const text =
      `${who} It is found at ${minuteText(report.winnerAt)}, from delivery reports and replies ` +
      'until then. Run it again after that, or say its name now with `--winner`:';
    return { text, command: again };
  }
  return {
    text: `${who} When you have decided, say its name${which}, and it goes to ${waiting === 1 ? 'that one' : 'the others'}:`,
    command: `${again} --winner NAME`,
  };
}

function waitSteps(report: Report, again: string, amended: string | null, formats: Formats): readonly NextStep[] {
  const zoneless = zonelessOf(report.reasons);
  const waits = waitText(report, formats);
  const advice: NextStep[] = waits === null ? [] : [{ text: `${waits}. Run it again after that:`, command: again }];
  if (zoneless > 0) {
    const text =
      `${waitWords(zoneless, formats)}: the time zone is not known. Name a ` +
      'column with it (`recipients.timeZone`), or a zone for all of them (`send.window.unknown`), and send again:';
    advice.push(amendStep(report, text, amended));
  }
  return advice;
}

function waitText({ reasons, opensAt }: Report, formats: Formats): string | null {
  const [outside, limited, paused] = [outsideOf(reasons), limitedOf(reasons), pausedOf(reasons)];
  const at = opensAt === undefined ? null : minuteText(opensAt);
  if (limited > 0) {
    const who = `The API was too busy for ${formats.count(limited, 'recipient')}, who ${limited === 1 ? 'waits' : 'wait'}`;
    return at === null ? who : `${who} until ${at}`;
  }
  const who = waitWords(outside + paused, formats);
  const first = at === null ? '' : `, the first at ${at}`;
  const all = outside + paused + countOf(reasons, 'deferred', 'too-early');
  if (all > outside + paused) return `${waitWords(all, formats)} for ${all === 1 ? 'its' : 'their'} time${first}`;
  if (outside > 0 && paused > 0) return `${who} until their window opens or the canary goes on${first}`;
  if (outside > 0) return `${who} until ${outside === 1 ? 'the' : 'their'} window opens${first}`;
  return paused === 0 ? null : `${who} until the canary goes on${at === null ? '' : `, at ${at} at the latest`}`;
}

/** `1 recipient waits`, `2 recipients wait`. */
function waitWords(count: number, formats: Formats): string {
  return `${formats.count(count, 'recipient')} ${count === 1 ? 'waits' : 'wait'}`;
}

/** Rounded up: an earlier start has nothing to do. */
function minuteText(instant: string): string {
  return utcText(Math.ceil(Date.parse(instant) / 60_000) * 60_000, 'minute');
}

type Reasons = Report['reasons'];

function countOf(reasons: Reasons, outcome: keyof Reasons, reason: string): number {
  return reasons[outcome]?.[reason] ?? 0;
}

const limitedOf = (reasons: Reasons) => countOf(reasons, 'pending', 'rate-limited');
const pausedOf = (reasons: Reasons) => countOf(reasons, 'deferred', 'canary-undecided');
const outsideOf = (reasons: Reasons) => countOf(reasons, 'deferred', 'outside-window');
export const zonelessOf = (reasons: Reasons) => countOf(reasons, 'deferred', 'zone-unknown');

/** Recipients that the API refused. Those who cannot receive the channel need another step than a retry, and opt-outs none. */
function rejectedSteps(report: Report, again: string, amended: string | null, formats: Formats): readonly NextStep[] {
  const { totals, reasons, steps } = report;
  const unreachable = countOf(reasons, 'rejected', 'unsupported-channel');
  const refused = totals.rejected - unreachable - countOf(reasons, 'rejected', 'opted-out');
  const advice: NextStep[] = [];
  if (refused > 0) {
    advice.push({
      text: `The API refused ${formats.count(refused, 'recipient')}. When the cause is gone, this tries them again${unreachable > 0 ? ', and those who cannot receive the channel' : ''}:`,
      command: `${again} --retry rejected`,
    });
  }
  if (unreachable > 0) {
    const text =
      `${formats.count(unreachable, 'recipient')} cannot receive ${steps === undefined ? 'the channel' : 'any of the channels'}. ` +
      'A `fallback` to another one may reach them; once it is in the campaign, this sends it:';
    advice.push(amendStep(report, text, amended === null ? null : `${again} --retry rejected --allow input-changed`));
  }
  return advice;
}

/** The verdict says why it halted. Null: nothing is left to send. */
function haltStep({ rule, next, at }: Halt, report: Report, again: string, amended: string | null): NextStep | null {
  const left = leftToSend(report) > 0;
  if (AMENDS.has(rule) || at !== undefined) return amendStep(report, next, amended);
  if (rule !== 'doubt' || (left && report.totals.inDoubt > 0)) return { text: next, command: again };
  const resolved = 'The last start was stopped by doubts. All of them are resolved: send again for the rest.';
  // The next step names them and the fix; no other recipients are left.
  return left ? { text: resolved, command: again } : null;
}

/** Needs another content, which an approved plan cannot get. */
function amendStep(report: Report, text: string, amended: string | null): NextStep {
  if (amended !== null) return { text, command: amended };
  const instead = `A plan that was approved cannot be amended: ${anotherOccurrence(report)}`;
  return { text: `${text.replace(/:$/, '.')} ${instead}`, command: null };
}

/**
 * How to send other content, or another list, to the rest of an occurrence, with approved plans only.
 * @param excluded - the campaign's present `exclude`
 */
export function anotherOccurrence(
  { environment, campaign, occurrence }: Pick<Report, 'environment' | 'campaign' | 'occurrence'>,
  excluded: readonly string[] = [],
): string {
  return (
    `set \`exclude: [${[...excluded, `${campaign}@${occurrence}`].join(', ')}]\` in the campaign, plan another occurrence with ` +
    `\`${nextCommand('plan', campaign, '--env', environment, '--occurrence', 'NAME', '-o', 'FILE', '--sign', 'KEY')}\`, ` +
    `have it approved with \`${nextCommand('approve', 'FILE', '--sign', 'KEY')}\`, and send it with ` +
    `\`${nextCommand('send', '--plan', 'FILE')}\`.`
  );
}

const AMENDS: ReadonlySet<HaltRule> = new Set(['canary', 'refusals']);

function doubtStep(report: Report, formats: Formats): NextStep {
  return {
    text:
      `${formats.count(report.totals.inDoubt, 'recipient')} in doubt: the API may have the message. handbill does not send ` +
      'it again by itself. This shows who they are, and what to do:',
    command: nextCommand('doubt', 'list', report.run),
  };
}

function leftOf(report: Report, formats: Formats): string {
  const { failed } = report.totals;
  const second = report.secondMessages?.failed ?? 0;
  const { reasons } = report;
  const pending = report.totals.pending - limitedOf(reasons);
  const deferred =
    report.totals.deferred - undecidedOf(report) - outsideOf(reasons) - zonelessOf(reasons) - pausedOf(reasons);
  const who = (count: number) => formats.count(count, 'recipient');
  const parts = [
    failed > second && `Nothing was sent to ${who(failed - second)}: the API could not be reached.`,
    second > 0 &&
      `The second message to ${who(second)} was not sent: the API could not be reached. Until it is sent, the report counts ${second === 1 ? 'that one' : 'them'} as failed, whatever became of the first message.`,
    pending > 0 && `${who(pending)} still to be sent to.`,
    deferred > 0 && `${who(deferred)} deferred to a later time.`,
  ];
  return parts.filter(Boolean).join(' ');
}

/** Starts this run again: by its campaign, or where that is refused, by its plan. */
export function sendCommand(
  run: Pick<Report, 'environment' | 'occurrence'> & { readonly postedFrom?: string | null },
  sentAs: SentAs,
  planPath: string | null,
): string {
  const { environment, occurrence: named, postedFrom } = run;
  const occurrence = named === 'once' ? [] : ['--occurrence', named];
  // A plan of one occurrence names it; a standing one covers every occurrence.
  const { campaign, recipients } = typeof sentAs === 'string' ? { campaign: sentAs, recipients: null } : sentAs;
  const list = recipients === null ? [] : ['--recipients', recipients];
  // It names its list too, which cannot be standard input.
  if (planPath !== null)
    return nextCommand('send', '--plan', planPath, ...occurrence, ...(recipients === '-' ? list : []));
  return nextCommand('send', campaign, ...envWords(postedFrom ?? environment), ...occurrence, ...list);
}
