import { type Diagnostic, problem, warning } from '../errors.ts';
import { ALLOWABLE, type Allowable, type Campaign } from '../model.ts';
import { isRelative } from '../recipients/query.ts';
import { exactMoney } from '../report/locale.ts';
import { number } from '../report/words.ts';
import { microsOf, unitsOf } from '../util/units.ts';
import { listWithAnd } from '../util/words.ts';
import type { Estimate, WorstRows } from './estimate.ts';

/** An SMS of more parts is worth a warning, and of more than the second number refuses, unless the campaign says more. */
const LONG_PARTS = 3;
const MOST_PARTS = 10;

export function adviseEstimate(
  campaign: Campaign,
  estimate: Pick<Estimate, 'longest' | 'rows' | 'skipped' | 'variants' | 'deferred' | 'done'>,
): readonly Diagnostic[] {
  return [...adviseSegment(campaign, estimate), ...adviseLength(campaign, estimate), ...adviseTest(campaign, estimate)];
}

/** Not checked for a sample, or once the run has begun: the remaining rows no longer contain the test group. */
function adviseTest(
  { file, variants, split: { decides, test }, recipients: { sampled } }: Campaign,
  { variants: counts, deferred, done }: Pick<Estimate, 'variants' | 'deferred' | 'done'>,
): readonly Diagnostic[] {
  if (decides === null || test === null || sampled !== undefined || Object.keys(done).length > 0) return [];
  // The rest waits for the winner, and for nothing else: all of the test is counted.
  if (Object.keys(deferred).join() !== 'winner-undecided') return [];
  const { minimum } = decides;
  const tested = variants.filter(({ where }) => where === null).map(({ name }) => ({ name, count: counts[name] ?? 0 }));
  const least = Math.min(...tested.map(({ count }) => count));
  if (least >= minimum) return [];
  const said = listWithAnd(tested.map(({ name, count }) => `${number(count)} of "${name}"`));
  const message = `The test has ${said}; winner.minimum asks for ${number(minimum)} of each, so that no variant can win.`;
  const needed = least === 0 ? 100 : Math.ceil(((test * minimum) / least) * 100);
  const share = needed < 100 ? `Set \`test\` to ${needed}% or more, or` : 'The list is too short for such a test:';
  const lower = least === 0 ? 'name the winner with --winner' : `set \`winner.minimum\` to ${number(least)} or less`;
  return [warning('test-too-small', message, { at: { file }, hint: `${share} ${lower}.` })];
}

/** Not checked where the segment depends on the day, as a birthday does, or `exclude` may have emptied it. */
function adviseSegment(
  { exclude, recipients: { where, file } }: Campaign,
  { rows, skipped }: Pick<Estimate, 'rows' | 'skipped'>,
): readonly Diagnostic[] {
  if (where === null || isRelative(where) || exclude.length > 0 || rows === 0 || skipped['excluded'] !== rows)
    return [];
  const message = `\`recipients.where\` leaves out ${rows === 1 ? 'the only recipient' : `all ${number(rows)} recipients`}.`;
  const hint = 'Check it: upper and lower case count. handbill preview says for each row which condition is not met.';
  return [warning('unmet-comparison', message, { at: { file }, hint })];
}

function adviseLength(campaign: Campaign, { longest }: Pick<Estimate, 'longest'>): readonly Diagnostic[] {
  if (campaign.limits.maxParts !== null || longest === null) return [];
  // Above the other bound it is an error.
  if (longest.parts <= LONG_PARTS || longest.parts > MOST_PARTS) return [];
  const message = `SMS have up to ${longest.parts} parts each, and every part is charged as a message.`;
  const hint =
    'This row has the longest: shorten the template or the value, or set limits.maxParts to the number that you intend.';
  return [warning('too-many-parts', message, { at: rowOf(campaign, longest.line), hint })];
}

/** @param allow - `would-expire` in it makes a warning of that error */
export function checkLimits(
  campaign: Campaign,
  estimate: Estimate,
  worst: WorstRows,
  allow: readonly Allowable[] = [],
): readonly Diagnostic[] {
  const { maxRecipients, maxParts } = campaign.limits;
  const found: Diagnostic[] = [];
  // Recipients that wait are sent to later, without another look at the limit.
  const recipients = Object.values(estimate.deferred).reduce((sum, count) => sum + count, estimate.send);
  if (maxRecipients !== null && recipients > maxRecipients) {
    const message = `${recipients} recipients; limits.maxRecipients allows ${maxRecipients}.`;
    const hint = 'This row is the first above it: check the list, or raise limits.maxRecipients in the campaign.';
    found.push(problem('too-many-recipients', message, { at: rowOf(campaign, worst.above), hint }));
  }
  const mostParts = maxParts ?? MOST_PARTS;
  if (estimate.longest !== null && estimate.longest.parts > mostParts) {
    const allowed =
      maxParts === null ? `without limits.maxParts, ${mostParts} are allowed` : `limits.maxParts allows ${maxParts}`;
    const message = `A message has ${estimate.longest.parts} parts; ${allowed}.`;
    const hint = 'This row has the longest message: shorten the template or the value, or raise limits.maxParts.';
    found.push(problem('too-many-parts', message, { at: rowOf(campaign, estimate.longest.line), hint }));
  }
  return [...found, ...checkExpiry(campaign, estimate, allow), ...checkCost(campaign, estimate, worst)];
}

/** A run that cannot be finished in time is not begun: those at the end of the list would never get the message. */
function checkExpiry(
  { file, send }: Campaign,
  { forecast }: Estimate,
  allow: readonly Allowable[],
): readonly Diagnostic[] {
  if (forecast === undefined || forecast.expire * MOST_EXPIRE <= forecast.recipients) return [];
  const { recipients, expire } = forecast;
  const end = send.notAfterMs === null ? 'when the message is no longer valid' : `at send.notAfter`;
  const message = `${number(expire)} of ${number(recipients)} recipients would expire before their turn, ${end}.`;
  if (allow.includes('would-expire')) return [warning('would-expire', message, { at: { file } })];
  const cure = 'Raise send.rate (and that of the environment), widen send.window, start earlier, or move the end.';
  const hint = `${cure} Or: ${ALLOWABLE['would-expire']}`;
  return [problem('would-expire', message, { at: { file }, hint })];
}

/** More than one in ten. */
const MOST_EXPIRE = 10;

function checkCost(campaign: Campaign, estimate: Estimate, worst: WorstRows): readonly Diagnostic[] {
  const { maxCost } = campaign.limits;
  if (maxCost === null || !hasCost(estimate)) return [];
  const unknown = unknownCosts(campaign, estimate, worst, { limit: MAX_COST, key: MAX_COST });
  const costMicros = mostMicros(estimate);
  const allowedMicros = microsOf(maxCost);
  if (costMicros === null || costMicros <= allowedMicros) return unknown;
  const may = costMicros === estimate.costMicros ? 'costs' : 'may cost';
  const message = `The plan ${may} ${exactly(costMicros, estimate)}; limits.maxCost allows ${exactly(allowedMicros, estimate)}.`;
  const own = worst.mostExpensive === null ? '' : ` (${exactly(worst.mostExpensive.costMicros, estimate)})`;
  const hint = `This row has the most expensive message${own}: raise limits.maxCost, shorten the message, or send to fewer recipients.`;
  const at = rowOf(campaign, worst.mostExpensive?.line ?? null);
  return [...unknown, problem('too-expensive', message, { at, hint })];
}

const MAX_COST = 'limits.maxCost';

export function hasCost({ send, deferred }: Pick<Estimate, 'send' | 'deferred'>): boolean {
  return send + Object.keys(deferred).length > 0;
}

/** A cost that is not known may be above the limit (as a sentence names it): it refuses as well. */
export function unknownCosts(
  campaign: Campaign,
  { costMicros, unpriced }: Pick<Estimate, 'costMicros' | 'unpriced'>,
  worst: Pick<WorstRows, 'unpriced'>,
  { limit, key }: { readonly limit: string; readonly key: string },
): readonly Diagnostic[] {
  if (costMicros === null) {
    const message = `What the plan costs is not known, so that ${limit} cannot be kept.`;
    const hint = `Name a price list (\`prices\` in handbill.yaml), or take ${key} out.`;
    return [problem('no-price', message, { at: { file: campaign.file }, hint })];
  }
  if (unpriced === 0) return [];
  const message = `${unpriced === 1 ? '1 recipient has' : `${unpriced} recipients have`} no price, so that ${limit} cannot be kept.`;
  const hint = `This row is the first of them: add its destination to the price list, or take ${key} out.`;
  return [problem('no-price', message, { at: rowOf(campaign, worst.unpriced), hint })];
}

/** At most, with fallbacks and for recipients that wait. Null without a price list. */
export function mostMicros({ costMicros, fallback, waiting }: Estimate): number | null {
  if (costMicros === null) return null;
  return (fallback?.costMicros?.high ?? costMicros) + (waiting?.high ?? 0);
}

/** Null line: the list. */
export function rowOf(campaign: Campaign, line: number | null): { readonly file: string; readonly line?: number } {
  return line === null ? { file: campaign.recipients.file } : { file: campaign.recipients.file, line };
}

export function exactly(micros: number, { currency }: Pick<Estimate, 'currency'>): string {
  return exactMoney(unitsOf(micros), currency);
}
