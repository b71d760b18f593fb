import { readNamedText } from '../campaign/named-file.ts';
import { CHANNELS } from '../content/channels.ts';
import { type PriceList, priceOf, readPrices } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type {
  Campaign,
  Canary,
  Decision,
  DeferDecision,
  Forecast,
  Project,
  Recipient,
  SendDecision,
  StepMessage,
} from '../model.ts';
import { type Formats, PLAIN } from '../report/locale.ts';
import { fromRoot } from '../util/paths.ts';
import { iso } from '../util/time.ts';
import { unitsOf } from '../util/units.ts';
import { listWithAnd } from '../util/words.ts';

export interface Forecaster {
  add(recipient: Recipient): void;
  /** Null: the run takes less than a minute. */
  result(): Forecast | null;
}

/** Counts, parts and cost of a list. Built from the stream of decisions. */
export interface Estimate {
  readonly rows: number;
  readonly send: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly done: Readonly<Record<string, number>>;
  readonly invalid: number;
  readonly parts: number;
  readonly encodings: Readonly<Record<string, number>>;
  readonly countries: Readonly<
    Record<string, { readonly messages: number; readonly parts: number; readonly costMicros: number | null }>
  >;
  /** Millionths of the currency; null without a price list. */
  readonly costMicros: number | null;
  readonly currency: string | null;
  /** Recipients with a message, be it a fallback, that the price list has no price for: it is in none of the costs. */
  readonly unpriced: number;
  /** The row with the most parts, fallbacks included. */
  readonly longest: { readonly line: number; readonly parts: number } | null;
  /** Recipients of each variant, in the campaign's order; empty without variants. */
  readonly variants: Readonly<Record<string, number>>;
  /** Recipients whose turn comes later, by the rule that says so. */
  readonly deferred: Readonly<Record<string, number>>;
  /** When the first window opens of those who wait for one, where there are any: ISO 8601 in UTC. */
  readonly opensAt?: string;
  /** Cost of those whose turn comes later, of the cheapest and of the most expensive message that they may get. */
  readonly waiting: CostRange | null;
  /** Their SMS parts, of the shortest and of the longest message that they may get, where there are any. */
  readonly waitingParts?: { readonly low: number; readonly high: number };
  /** The most that fallbacks add; null where the campaign has none. */
  readonly fallback: FallbackEstimate | null;
  /** When the run will be finished, where it takes a minute or more. */
  readonly forecast?: Forecast;
}

/** Which recipients need a fallback is unknown in advance: none of them, or all. */
export interface FallbackEstimate {
  /** Recipients who have a fallback. */
  readonly recipients: number;
  /** Parts of all SMS fallbacks together. */
  readonly parts: number;
  /** Cost of the whole campaign in millionths: of the cheapest and of the most expensive step of each; null without prices. */
  readonly costMicros: CostRange | null;
}

/** At least, and at most; in millionths of the currency, unless said otherwise. */
export interface CostRange {
  readonly low: number;
  readonly high: number;
}

export type Estimator = ReturnType<typeof createEstimator>;

export interface WorstRows {
  /** The first recipient above `limits.maxRecipients`. */
  readonly above: number | null;
  /** Whose message may cost the most, in millionths of the currency. */
  readonly mostExpensive: { readonly line: number; readonly costMicros: number } | null;
  /** The first one with a message that has no price. */
  readonly unpriced: number | null;
  /** The most that rows with a time (`send.each`) cost: those that wait, and without a forecaster also those to send. */
  readonly later: CostByTime;
}

/** In millionths of the currency, by the moment from which the messages may go out, as `addAt` rounds it. */
export type CostByTime = ReadonlyMap<number, number>;

/** Rounds the moment, in ms since 1970, down to a quarter of an hour: in no time zone does a day begin within one. */
export function addAt(costs: Map<number, number>, ms: number, costMicros: number): void {
  const fromMs = ms - (ms % 900_000);
  costs.set(fromMs, (costs.get(fromMs) ?? 0) + costMicros);
}

export function sumOf(costs: Iterable<readonly [ms: number, costMicros: number]>): number {
  return [...costs].reduce((sum, [, costMicros]) => sum + costMicros, 0);
}

export function createEstimator(campaign: Campaign, prices: PriceList | null, forecaster: Forecaster | null = null) {
  const skipped: Record<string, number> = Object.create(null);
  const done: Record<string, number> = Object.create(null);
  const encodings: Record<string, number> = Object.create(null);
  const deferred: Record<string, number> = Object.create(null);
  const variants: Record<string, number> = Object.fromEntries(campaign.variants.map(({ name }) => [name, 0]));
  const countries = new Map<string, { messages: number; parts: number; costMicros: number | null }>();
  const sums = {
    ...{ rows: 0, send: 0, skipped, done, invalid: 0, parts: 0, encodings, countries: {}, costMicros: 0 },
    ...{ currency: prices?.currency ?? null, unpriced: 0, longest: null as Estimate['longest'], variants, deferred },
  };
  let mostExpensive: { line: number; costMicros: number } | null = null;
  let above: number | null = null;
  let firstUnpriced: number | null = null;
  const most = campaign.limits.maxRecipients ?? Number.POSITIVE_INFINITY;
  let meant = 0;

  const costOf = createPricer(prices);
  const fallback = { recipients: 0, parts: 0, low: 0, high: 0 };
  const waiting = { recipients: 0, low: 0, high: 0 };
  const waitingParts = { low: 0, high: 0 };
  const later = new Map<number, number>();
  const { each } = campaign.recipients;

  const note = (message: StepMessage, line: number): void => {
    const messageParts = message.sms?.parts ?? 0;
    if (messageParts === 0) return;
    if (sums.longest === null || messageParts > sums.longest.parts) sums.longest = { line, parts: messageParts };
  };
  const meet = (line: number): void => {
    meant += 1;
    if (meant > most && above === null) above = line;
  };
  const lack = (line: number): void => {
    sums.unpriced += 1;
    firstUnpriced ??= line;
  };
  const price = (costMicros: number, line: number): void => {
    if (mostExpensive === null || costMicros > mostExpensive.costMicros) mostExpensive = { line, costMicros };
  };
  /** Only the last step costs anything: the ones before it were refused. */
  const addFallbacks = (decision: SendDecision, cost: number | null): number => {
    let low = cost ?? 0;
    let high = low;
    let isPriced = cost !== null;
    for (const message of decision.fallbacks) {
      note(message, decision.line);
      fallback.parts += message.sms?.parts ?? 0;
      const own = costOf(message);
      if (own === null) {
        // Counted once for a recipient, also where several of the messages have no price.
        if (isPriced) lack(decision.line);
        isPriced = false;
        continue;
      }
      low = Math.min(low, own);
      high = Math.max(high, own);
    }
    if (decision.fallbacks.length > 0) fallback.recipients += 1;
    fallback.low += low;
    fallback.high += high;
    price(high, decision.line);
    return high;
  };
  let opensAtMs = Number.POSITIVE_INFINITY;
  const addDeferred = ({ reason, line, mayGet, untilMs, recipient }: DeferDecision): void => {
    if (reason === 'outside-window') forecaster?.add(recipient);
    deferred[reason] = (deferred[reason] ?? 0) + 1;
    if (untilMs !== undefined) opensAtMs = Math.min(opensAtMs, untilMs);
    meet(line);
    let [fewest, most] = [Number.POSITIVE_INFINITY, 0];
    for (const message of mayGet) {
      note(message, line);
      fewest = Math.min(fewest, partsOf(message));
      most = Math.max(most, partsOf(message));
    }
    if (most > 0) {
      waitingParts.low += fewest;
      waitingParts.high += most;
    }
    const costs = mayGet.map(costOf);
    const known = costs.filter((cost) => cost !== null);
    if (prices !== null && known.length < costs.length) lack(line);
    if (known.length === 0) return;
    price(Math.max(...known), line);
    waiting.recipients += 1;
    waiting.low += Math.min(...known);
    waiting.high += Math.max(...known);
    if (each !== null && untilMs !== undefined) addAt(later, untilMs, Math.max(...known));
  };
  const addSend = (decision: SendDecision): void => {
    const messageParts = partsOf(decision);
    const cost = costOf(decision);
    sums.send += 1;
    forecaster?.add(decision.recipient);
    sums.parts += messageParts;
    if (decision.sms !== null) encodings[decision.sms.encoding] = (encodings[decision.sms.encoding] ?? 0) + 1;
    meet(decision.line);
    if (cost !== null) {
      sums.costMicros += cost;
      price(cost, decision.line);
    } else if (prices !== null) lack(decision.line);
    note(decision, decision.line);
    if (decision.variant !== null) variants[decision.variant] = (variants[decision.variant] ?? 0) + 1;
    const most = campaign.fallbacks.length > 0 ? addFallbacks(decision, cost) : (cost ?? 0);
    // `validate` decides without the clock: each row is sent, whenever its time is.
    if (each !== null && forecaster === null) addAt(later, (decision.recipient.atMs ?? 0) - each.before.ms, most);
    const name = decision.recipient.country ?? 'other';
    const country = countries.get(name);
    if (country === undefined) countries.set(name, { messages: 1, parts: messageParts, costMicros: cost });
    else {
      country.messages += 1;
      country.parts += messageParts;
      if (cost !== null) country.costMicros = (country.costMicros ?? 0) + cost;
    }
  };

  return {
    /** Cost of one message in millionths of the currency; null where it is not known. */
    costOf,
    /** The rows that errors about limits point at, by their lines. */
    worst: (): WorstRows => ({ above, mostExpensive, unpriced: firstUnpriced, later }),
    add(decision: Decision): void {
      sums.rows += 1;
      if (decision.decision === 'send') addSend(decision);
      else if (decision.decision === 'skip') skipped[decision.reason] = (skipped[decision.reason] ?? 0) + 1;
      else if (decision.decision === 'defer') addDeferred(decision);
      else if (decision.decision === 'done') done[decision.outcome] = (done[decision.outcome] ?? 0) + 1;
      else sums.invalid += 1;
    },
    result: (): Estimate => {
      const forecast = forecaster?.result() ?? null;
      const { recipients, parts, low, high } = fallback;
      return {
        ...sums,
        countries: Object.fromEntries([...countries].sort(([, a], [, b]) => b.messages - a.messages)),
        costMicros: prices === null ? null : sums.costMicros,
        ...(Number.isFinite(opensAtMs) ? { opensAt: iso(opensAtMs) } : {}),
        waiting: waiting.recipients === 0 ? null : { low: waiting.low, high: waiting.high },
        ...(waitingParts.high === 0 ? {} : { waitingParts: { ...waitingParts } }),
        fallback:
          campaign.fallbacks.length === 0
            ? null
            : { recipients, parts, costMicros: prices === null ? null : { low, high } },
        ...(forecast === null ? {} : { forecast }),
      };
    },
  };
}

/** A text that only the provider has counts as one part. */
function partsOf({ channel, sms }: StepMessage): number {
  return sms?.parts ?? (channel === 'sms' ? 1 : 0);
}

/* An estimate in one line; null where there is nothing to print. */

/** ` now, 160 later (winner-undecided), at most 202`, after the number of recipients; empty where none waits. */
export function laterText({ send, deferred }: Pick<Estimate, 'send' | 'deferred'>, formats: Formats = PLAIN): string {
  const { number } = formats;
  const reasons = Object.entries(deferred);
  const later = reasons.reduce((sum, [, count]) => sum + count, 0);
  if (later === 0) return '';
  const why = reasons.map(([reason, count]) => (reasons.length === 1 ? reason : `${number(count)} ${reason}`));
  return ` now, ${number(later)} later (${why.join(', ')}), at most ${number(send + later)}`;
}

/** `47 accepted, 3 skipped`: recipients whose outcome a run that has begun holds already; null where there are none. */
export function doneText({ done }: Pick<Estimate, 'done'>, { number }: Formats = PLAIN): string | null {
  const outcomes = Object.entries(done).map(([outcome, count]) => `${number(count)} ${outcome}`);
  return outcomes.length === 0 ? null : outcomes.join(', ');
}

/** `42 parts`, or `42 parts, later 160 to 320` where recipients wait. */
export function listPartsText(
  estimate: Pick<Estimate, 'parts' | 'waitingParts'>,
  formats: Formats = PLAIN,
): string | null {
  const later = laterPartsText(estimate, formats);
  return later === '' ? partsText(estimate.parts, formats) : `${formats.count(estimate.parts, 'part')}${later}`;
}

/** `, later 160 to 320`: follows the number of parts; empty where none come later. */
export function laterPartsText({ waitingParts }: Pick<Estimate, 'waitingParts'>, { number }: Formats = PLAIN): string {
  if (waitingParts === undefined) return '';
  const { low, high } = waitingParts;
  return `, later ${low === high ? '' : `${number(low)} to `}${number(high)}`;
}

/** `1,204 parts`: of SMS; other channels have none. */
export function partsText(parts: number, formats: Formats = PLAIN): string | null {
  return parts === 0 ? null : formats.count(parts, 'part');
}

/** `12.30 EUR`, or a range where fallbacks may change the cost; and the cost of recipients who wait. */
export function costText(estimate: Estimate, formats: Formats = PLAIN): string | null {
  return listCostText(listCost(estimate), formats);
}

/** In millionths of the currency. */
interface ListCost extends Pick<Estimate, 'currency' | 'unpriced' | 'waiting'> {
  /** Cost of those who are sent to now: with fallbacks, from the cheapest to the most expensive; null without prices. */
  readonly now: CostRange | null;
}

export function listCost({ costMicros, currency, unpriced, fallback, waiting }: Estimate): ListCost {
  const now = costMicros === null ? null : (fallback?.costMicros ?? { low: costMicros, high: costMicros });
  return { now, waiting, currency, unpriced };
}

export function listCostText({ now, waiting, currency, unpriced }: ListCost, formats: Formats = PLAIN): string | null {
  if (now === null) return null;
  const { moneyRange, number } = formats;
  const amountOf = ({ low, high }: CostRange): string => moneyRange(unitsOf(low), unitsOf(high), currency);
  const amount = waiting === null ? amountOf(now) : `${amountOf(now)}, later ${amountOf(waiting)}`;
  return unpriced === 0 ? amount : `${amount} and ${number(unpriced)} without a price`;
}

export function fallbackText({ fallback }: Estimate, formats: Formats = PLAIN): string | null {
  if (fallback === null) return null;
  const parts = partsText(fallback.parts, formats);
  return `for up to ${formats.number(fallback.recipients)}${parts === null ? '' : `, up to ${parts}`}`;
}

/** `100, 1%, then the rest; each when at least 95% were accepted, after 10m`: how a canary goes out. */
export function canaryText(canary: Canary | null, { number, duration }: Formats = PLAIN): string | null {
  if (canary === null) return null;
  const steps = canary.steps.map((step) => ('count' in step ? number(step.count) : shareText(step.share)));
  const { accepted, delivered, optedOut, waitMs } = canary.gate;
  const asks = [
    ...(accepted === null ? [] : [`${shareText(accepted)} are accepted`]),
    ...(delivered === null ? [] : [`${shareText(delivered)} of them delivered (within ${duration(waitMs)})`]),
    ...(optedOut === null ? [] : [`at most ${shareText(optedOut)} opt out`]),
  ];
  const gate = asks.length === 0 ? '' : `; on while ${listWithAnd(asks)}`;
  const pause = canary.pauseMs === 0 ? '' : `, after ${duration(canary.pauseMs)}`;
  return `${steps.join(', ')}, then the rest${gate}${pause}`;
}

function shareText(share: number): string {
  return `${Number((share * 100).toFixed(6))}%`;
}

const MAX_PRICES_BYTES = 1024 * 1024;

/** Null: the project has none, or it has errors. */
export function readPriceList(project: Project): {
  readonly prices: PriceList | null;
  readonly diagnostics: readonly Diagnostic[];
} {
  if (project.prices === null) return { prices: null, diagnostics: [] };
  const { root } = project;
  const file = fromRoot(root, project.prices);
  const read = readNamedText(file, { root, folder: root, cwd: root, where: { at: { file } } }, MAX_PRICES_BYTES);
  return 'problem' in read
    ? { prices: null, diagnostics: [read.problem] }
    : readPrices(read.source.text, read.source.file);
}

/** @throws HandbillError exit 2 with all errors */
export function loadPrices(project: Project): PriceList | null {
  const { prices, diagnostics } = readPriceList(project);
  const errors = diagnostics.filter((d) => d.severity === 'error');
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return prices;
}

/** The price in millionths of the currency; null: unknown. */
export function createPricer(prices: PriceList | null): (message: StepMessage) => number | null {
  if (prices === null) return () => null;
  const perPart = new Map(CHANNELS.map((channel) => [channel, new Map<string, number | null>()]));
  return ({ country, channel, sms }) => {
    const known = perPart.get(channel);
    const name = country ?? '*';
    let price = known?.get(name);
    if (price === undefined) {
      price = priceOf(prices, name, channel);
      known?.set(name, price);
    }
    return price === null ? null : price * (sms?.parts ?? 1);
  };
}
