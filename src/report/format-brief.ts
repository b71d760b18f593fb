import type { Report } from '../model.ts';
import { safeLine } from '../util/escape.ts';
import { nextCommand } from '../util/next-command.ts';
import { END_TABLE, ENDS, type End, endsOf } from './ends.ts';
import { type Formats, PLAIN } from './locale.ts';
import { nextSteps } from './next-steps.ts';
import type { Outcomes, ReportOptions } from './record.ts';
import { verdictOf } from './verdict.ts';
import { causeLines, postedWords, returnedWords, stateWord, tookMs } from './words.ts';

/** Characters of both lines: a chat or a text message shows them whole. */
export const BRIEF_LENGTH = 200;

/** Two lines for a chat: how far the messages came; the most frequent cause and the next command. ASCII punctuation. */
export async function* formatBrief(report: Report, _outcomes: Outcomes, options: ReportOptions) {
  yield briefText(report, options);
}

/** One or two lines, at most 200 characters together: cuts names first, then drops counts, skipped ones first. */
export function briefText(
  report: Report,
  options: Pick<ReportOptions, 'campaignFile' | 'formats' | 'planPath' | 'postedNow'>,
): string {
  const { campaignFile, planPath, postedNow, formats = PLAIN } = options;
  const steps = nextSteps(report, campaignFile ?? report.campaign, planPath ?? null);
  const commands = steps.flatMap(({ command }) => (command === null ? [] : [command])).slice(0, 1);
  // The next command, or if that is long, that of the report; empty if nothing is left.
  const short = [...commands, nextCommand('report', report.run), nextCommand('report')];
  const command = safeLine(short.find((one) => one.length <= NEXT_MOST) ?? '');
  const advice = commands.length === 0 ? '' : `next: ${command}`;
  // Two line ends, and the text between the halves of the second line.
  const room = BRIEF_LENGTH - advice.length - 4;
  const { fall } = verdictOf(report, formats);
  const fell = fall === null ? [] : [fall.replace(/ messages(?=,)|\.$/g, '')];
  const now = postedNow === undefined ? '' : `${postedWords(postedNow, formats)}; `;
  // Before the cause: a line without one of its counts would not add up.
  const first = firstLine(report, now, formats, room);
  const left = room - first.length;
  const most = left - fell.join('').length - 2;
  // Its beginning says more than nothing.
  const causes = causeLines(report.causes ?? [], 1, formats)
    .slice(0, 1)
    .map((cause) => (cause.length > most && most >= CAUSE_LEAST ? `${cause.slice(0, most - 3)}...` : cause));
  const came = joined('', [...fell, ...causes, ...returnedWords(report, formats)], ', ', left);
  const second = [came, advice].filter((part) => part !== '').join('; ');
  const text = second === '' ? `${first}\n` : `${first}\n${second}\n`;
  // Some locales have special spaces between thousands.
  return text.replace(/[\u00a0\u202f]/g, ' ');
}

/** A longer command would displace the outcomes. */
const NEXT_MOST = 64;

/** `hello (production, once): finished in 2 min 10 s - 4,980 of 5,000 delivered, 3 unclear, 12 not delivered, 5 not sent` */
function firstLine(report: Report, now: string, formats: Formats, room: number): string {
  const { number } = formats;
  const { campaign, environment, occurrence, totals, ends = endsOf(report) } = report;
  const { halt } = report;
  const ms = tookMs(report);
  const word = report.state === 'halted' && halt !== null ? `halted (${halt.rule})` : stateWord(report.state);
  const took = report.state === 'running' || ms === null ? null : formats.duration(ms);
  const state = took === null ? word : `${word} ${report.state === 'finished' ? 'in' : 'after'} ${took}`;
  const first: End = ends.delivered > 0 ? 'delivered' : 'sent';
  const must = `: ${state} - ${now}${number(ends[first])} of ${number(totals.recipients)} ${END_TABLE[first].words}`;
  const names = `${safeLine(campaign)} (${safeLine(environment)}, ${safeLine(occurrence.replace(/:00Z$/, 'Z'))})`;
  const most = Math.max(NAMES_LEAST, room - must.length);
  const head = names.length <= most ? names : `${names.slice(0, most - 3)}...`;
  const others = MOST_URGENT.flatMap((end) =>
    end === first || ends[end] === 0 ? [] : [`${number(ends[end])} ${END_TABLE[end].words}`],
  );
  return joined(head + must, others, ', ', room);
}

const NAMES_LEAST = 20;
const CAUSE_LEAST = 25;

/** Those at the front stay where there is no room for all. */
const MOST_URGENT = ['unclear', 'notDelivered', 'notTried', 'waits', 'notSent', ...ENDS.slice(0, 2)] as const;

function joined(start: string, parts: readonly string[], between: string, room: number): string {
  let text = start;
  for (const part of parts) {
    const longer = text === '' ? part : `${text}${between}${part}`;
    if (longer.length > room) return text;
    text = longer;
  }
  return text;
}
