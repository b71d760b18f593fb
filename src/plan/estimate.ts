import { type PriceList, priceOf } from '../content/price.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type { Campaign, Decision, SendDecision } from '../model.ts';

/** What a list comes to: counts, parts and cost. Built while the decisions flow by. */
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
  /** Messages to destinations that the price list does not know; their cost is not in `costMicros`. */
  readonly unpriced: number;
  /** The row with the most parts. */
  readonly longest: { readonly line: number; readonly parts: number } | null;
}

/** A running estimate: `add` is called once per decision and allocates nothing in the common case. */
export interface Estimator {
  add(decision: Decision): void;
  /** Cost of one message in millionths of the currency; null where it is not known. */
  costOf(decision: SendDecision): number | null;
  result(): Estimate;
}

export function createEstimator(campaign: Campaign, prices: PriceList | null): Estimator {
  const skipped: Record<string, number> = Object.create(null);
  const done: Record<string, number> = Object.create(null);
  const encodings: Record<string, number> = Object.create(null);
  const countries = new Map<string, { messages: number; parts: number; costMicros: number | null }>();
  const priceByCountry = new Map<string, number | null>();
  let rows = 0;
  let send = 0;
  let invalid = 0;
  let parts = 0;
  let costMicros = 0;
  let unpriced = 0;
  let longest: { line: number; parts: number } | null = null;

  const perPart = (country: string | null): number | null => {
    if (prices === null) return null;
    const name = country ?? '*';
    let price = priceByCountry.get(name);
    if (price === undefined) {
      price = priceOf(prices, name, campaign.channel);
      priceByCountry.set(name, price);
    }
    return price;
  };
  const costOf = (decision: SendDecision): number | null => {
    const price = perPart(decision.recipient.country);
    return price === null ? null : price * (decision.sms?.parts ?? 1);
  };

  const addSend = (decision: SendDecision): void => {
    const messageParts = decision.sms?.parts ?? 1;
    const cost = costOf(decision);
    send += 1;
    parts += messageParts;
    if (decision.sms !== null) encodings[decision.sms.encoding] = (encodings[decision.sms.encoding] ?? 0) + 1;
    if (cost !== null) costMicros += cost;
    else if (prices !== null) unpriced += 1;
    if (longest === null || messageParts > longest.parts) longest = { line: decision.line, parts: messageParts };
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
    costOf,
    add(decision) {
      rows += 1;
      if (decision.decision === 'send') addSend(decision);
      else if (decision.decision === 'skip') skipped[decision.reason] = (skipped[decision.reason] ?? 0) + 1;
      else if (decision.decision === 'done') done[decision.outcome] = (done[decision.outcome] ?? 0) + 1;
      else invalid += 1;
    },
    result: () => ({
      rows,
      send,
      skipped,
      done,
      invalid,
      parts,
      encodings,
      countries: Object.fromEntries([...countries].sort(([, a], [, b]) => b.messages - a.messages)),
      costMicros: prices === null ? null : costMicros,
      currency: prices?.currency ?? null,
      unpriced,
      longest,
    }),
  };
}

/** The limits of the campaign that this estimate is above, each as an error that names the figure and the worst row. */
export function checkLimits(campaign: Campaign, estimate: Estimate): readonly Diagnostic[] {
  const { maxRecipients, maxParts, maxCost } = campaign.limits;
  const found: Diagnostic[] = [];
  const list = campaign.recipients.file;
  if (maxRecipients !== null && estimate.send > maxRecipients) {
    found.push(
      problem('too-many-recipients', `${estimate.send} recipients; limits.maxRecipients allows ${maxRecipients}.`, {
        at: { file: list },
        hint: 'Check the list, or raise limits.maxRecipients in the campaign.',
      }),
    );
  }
  if (maxParts !== null && estimate.longest !== null && estimate.longest.parts > maxParts) {
    found.push(
      problem('too-many-parts', `A message has ${estimate.longest.parts} parts; limits.maxParts allows ${maxParts}.`, {
        at: { file: list, line: estimate.longest.line },
        hint: 'This row has the longest message: shorten the template or the value, or raise limits.maxParts.',
      }),
    );
  }
  if (maxCost !== null && estimate.costMicros !== null && estimate.costMicros > maxCost * 1e6) {
    const cost = (estimate.costMicros / 1e6).toFixed(2);
    found.push(
      problem('too-expensive', `The plan costs ${cost} ${estimate.currency ?? ''}; limits.maxCost allows ${maxCost}.`, {
        at: { file: campaign.file },
        hint: 'Raise limits.maxCost, or send to fewer recipients.',
      }),
    );
  }
  return found;
}
