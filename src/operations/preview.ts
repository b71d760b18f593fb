import { loadCampaign } from '../campaign/load.ts';
import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { EarlierRow, RowState, RunRecord } from '../ledger/records.ts';
import type { Campaign, Channel, Decision, Leg, LegMessage, SendDecision } from '../model.ts';
import { openReach, type Reached } from '../plan/contact-history.ts';
import { decisions, duplicatesIn, type View } from '../plan/decide.ts';
import { canaryText, costText, createEstimator, type Estimate, fallbackText, partsText } from '../plan/estimate.ts';
import type { Expander } from '../plan/expand.ts';
import { legsOf } from '../plan/leg-of.ts';
import { adviseLength, checkLimits } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { type OpenRules, openClaimRules, openRules } from '../plan/rules.ts';
import type { SealedPlan } from '../plan/seal.ts';
import { loadSuppressions, type Suppressions } from '../plan/suppression.ts';
import { createWarner, type Warner } from '../plan/warnings.ts';
import { createWindowGate } from '../plan/window.ts';
import { joinFaults, NAMED_PROBLEMS } from '../recipients/faults.ts';
import { winnerWords } from '../report/variants-text.ts';
import { number } from '../report/words.ts';
import { createPacker } from '../run/batch.ts';
import { unreachedRows } from '../run/deliveries.ts';
import { continueRefusals, isTooLate } from '../run/prepare.ts';
import { refuseUnlessSealed } from '../run/sealed.ts';
import { checkWinner, findWinner, type WinnerState, winnerIn, winnerOfRun } from '../run/winner.ts';
import { overRefusal } from '../schedule/occurrence.ts';
import type { Meter } from '../util/meter.ts';
import { safeLine } from '../util/safe.ts';
import { meantOccurrence } from './occurrence.ts';

/** A dry run that is under way: read `batches` to its end, then ask for `result`. */
export interface Preview {
  readonly plan: Plan;
  readonly warn: Warner;
  /** The leg that a message was written for. */
  readonly legOf: (message: LegMessage, variant: string | null) => Leg;
  readonly warnings: readonly Diagnostic[];
  /** Every decision, in list order; the request of each with the bytes that send would post. */
  readonly batches: AsyncIterable<readonly Previewed[]>;
  /** How far the search for the winner of a test is at that time. */
  readonly winner: WinnerState;
  result(): {
    readonly estimate: Estimate;
    readonly problems: readonly Diagnostic[];
    readonly problemCount: number;
    /** Recipients whose message went to another address than the list holds now. */
    readonly changed: number;
    /** About the list as a whole. */
    readonly warnings: readonly Diagnostic[];
  };
  close(): void;
}

export interface Previewed {
  readonly decision: Decision;
  /** JSON text of the body; null unless it would be sent, and for all but the first of those who share a request. */
  readonly body: string | null;
  /** Line of the row that shows the request which this recipient shares; null where it has one of its own. */
  readonly sharedWith: number | null;
  /** Bodies of the fallbacks, in order: what would go out if the leg before cannot be received. */
  readonly fallbacks: readonly string[];
}

export interface PreviewOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The process's variables: the key of suppression lists may be among them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly ledger?: string;
  readonly recipients?: string;
  readonly skipInvalid?: boolean;
  /** The variant for all recipients outside the test. */
  readonly winner?: string;
  /** The instant that the run would start at, ms since 1970; default: the run's own start, else now. */
  readonly at?: number;
  /** Called with how far the list was read. */
  readonly meter?: Meter;
  /** Previews a start of `send` with these options; default: `send` without options. */
  readonly start?: PreviewedStart;
}

/**
 * Shows what send would do, from the same stream of decisions. Opens no connection, not even DNS; a ledger is read and
 * never created.
 *
 * @throws HandbillError exit 2: whatever is wrong with the campaign as a whole
 */
export async function preview(target: string, options: PreviewOptions): Promise<Preview> {
  const { campaign, warnings } = await loadCampaign(target, {
    cwd: options.cwd,
    now: options.at ?? options.now(),
    ...(options.recipients === undefined ? {} : { recipients: options.recipients }),
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
  });
  const { environment = 'sandbox' } = options;
  const meant = await meantOccurrence(campaign, {
    environment,
    named: options.occurrence,
    nowMs: options.at ?? options.now(),
    toShow: true,
    asSend: options.start !== undefined,
    newLedger: options.start?.newLedger === true,
  });
  const plan = await createPlan(campaign, { environment, occurrence: meant.occurrence });
  if (options.winner !== undefined) checkWinner(plan, options.winner);
  if (options.start !== undefined) await refuseUnapproved(plan, options.start, options);
  const estimator = createEstimator(campaign, await loadPrices(campaign.project));
  const suppressions = await loadSuppressions(campaign, options.env ?? {});
  const ledger = openExistingLedger(campaign.project.ledger, {
    nowMs: options.now(),
    newLedger: options.start?.newLedger === true,
  });
  const closing = (error: unknown): never => {
    ledger?.close();
    throw error;
  };
  const reached = await openReach(plan, ledger, options.at ?? options.now()).catch(closing);
  const known = await viewOf(plan, ledger, suppressions, reached, options).catch(closing);
  const { startedAtMs, usedBy, insteadOf } = known;
  const { meter } = options;
  const view = { ...known.view, ...(meter === undefined ? {} : { meter }) };
  const expand = plan.expander(options.at ?? startedAtMs ?? options.now());
  const problems: Diagnostic[] = [];
  let invalid = 0;
  let changed = 0;

  const said = [...warnings, ...meant.warnings, ...plan.warnings, ...(reached?.warnings ?? [])];
  const previewer = createPreviewer(plan.recipientsPerRequest, expand);
  async function* batches(): AsyncGenerator<readonly Previewed[]> {
    const stream = decisions(plan, view);
    try {
      for await (const batch of stream) {
        for (const decided of batch) {
          const decision = known.numbered(insteadOf(onLeg(decided, usedBy(decided.row), known.claimRules)));
          if (decision.decision === 'done' && decision.sentTo !== undefined) changed += 1;
          estimator.add(decision);
          if (decision.decision === 'invalid') {
            invalid += 1;
            if (problems.length < NAMED_PROBLEMS) problems.push(decision.problem);
          }
          previewer.add(decision);
        }
        yield previewer.ready();
      }
    } catch (error) {
      throw joinFaults(problems, invalid, error);
    }
    yield previewer.rest();
    said.push(...stream.notes());
  }
  return {
    plan,
    warn: createWarner(plan),
    legOf: legsOf(campaign),
    warnings: said,
    batches: batches(),
    winner: known.winner,
    result() {
      const estimate = estimator.result();
      const limits = checkLimits(campaign, estimate, estimator.worst());
      return {
        estimate,
        problems: [...known.refusals, ...problems, ...limits],
        problemCount: known.refusals.length + invalid + limits.length,
        changed,
        warnings: adviseLength(campaign, estimate),
      };
    },
    close: () => ledger?.close(),
  };
}

/** What `send` checks before it reads the list: that the plan is the one in the plan file, and approved. */
async function refuseUnapproved(plan: Plan, { sealed, amend }: PreviewedStart, options: PreviewOptions): Promise<void> {
  const { requireApproval } = await import('../run/approved.ts');
  if (sealed !== undefined) await refuseUnlessSealed(plan, sealed, { cwd: options.cwd, amend: amend === true });
  await requireApproval(plan.environment, sealed ?? null, { env: options.env ?? {}, nowMs: options.now() });
}

/** Who fell back in the run gets the fallback next; where the campaign has it no more, nothing. */
function onLeg(decision: Decision, used: readonly Channel[] | null, claimRules: () => OpenRules): Decision {
  if (used === null || decision.decision !== 'send') return decision;
  const { row, line, key, to, fallbacks } = decision;
  const [message, ...rest] = fallbacks.filter(({ channel }) => !used.includes(channel));
  if (message === undefined) return { decision: 'skip', row, line, key, to, reason: 'removed' };
  const recipient = { ...decision.recipient, to: message.to };
  for (const { reason, check } of claimRules()) {
    const detail = check(recipient);
    if (typeof detail === 'string') return { decision: 'skip', row, line, key, to, reason, detail };
  }
  return { ...decision, ...message, fallbacks: rest };
}

/** The options of `send --dry-run` that a preview does not have; each as in `SendOptions`. */
export interface PreviewedStart {
  readonly amend?: boolean;
  readonly late?: boolean;
  readonly retryRejected?: boolean;
  readonly resendChanged?: boolean;
  readonly newLedger?: boolean;
  readonly limit?: number;
  readonly sealed?: SealedPlan;
}

interface ViewOptions {
  readonly now: () => number;
  readonly skipInvalid?: boolean;
  readonly winner?: string;
  readonly at?: number;
  readonly start?: PreviewedStart;
}

interface Known {
  readonly view: View;
  /** The rules for a fallback, at its own address. */
  readonly claimRules: () => OpenRules;
  readonly winner: WinnerState;
  readonly startedAtMs: number | null;
  /** Channels on which the recipient could not be reached before; null: none. */
  readonly usedBy: (row: number) => readonly Channel[] | null;
  /** A fallback that a report asks for and a rule forbids does not take place: the message before stays accepted. */
  readonly insteadOf: (decision: Decision) => Decision;
  /** A message to a corrected address, which has a reference of its own. */
  readonly numbered: (decision: Decision) => Decision;
  /** Why `send` would not begin or continue the run; empty: it would. */
  readonly refusals: readonly Diagnostic[];
}

/** What the ledger knows: final outcomes of this run, and suppressions. */
async function viewOf(
  plan: Plan,
  ledger: Ledger | null,
  suppressions: Suppressions,
  reached: Reached | null,
  options: ViewOptions,
): Promise<Known> {
  const { campaign } = plan;
  const begun = new Map<number, readonly Channel[]>();
  const accepted = new Map<number, RowState>();
  const resent = new Map<number, number>();
  const nowMs = options.at ?? options.now();
  const run = ledger?.findRun({
    environment: plan.environment.name,
    campaign: campaign.name,
    occurrence: plan.occurrence,
  });
  const { start = {} } = options;
  const refusals = await refusalsOf({ plan, ledger, nowMs, start }, run ?? null);
  const asksAgain = again(start, run && ledger ? () => ledger.earlier(run) : () => new Map());
  const stateOf = run && ledger ? ledger.stateOf(run) : null;
  // As `send` would do it: what is stale is left as it is.
  const isStale = run && ledger ? start.late !== true && (await isTooLate({ ledger, campaign, nowMs }, run)) : true;
  const fallsBack = run && ledger && !isStale ? reportedIn(ledger, run, campaign) : null;
  const winner: WinnerState =
    ledger === null || options.winner !== undefined ? { kind: 'none' } : findWinner(ledger, plan, run ?? null, nowMs);
  const now = () => nowMs;
  const window = await createWindowGate(plan, { now, startMs: run?.startedAtMs ?? nowMs });
  const sources = { suppressions, ledger, reached, now, window };
  let claimRules: OpenRules | null = null;
  const view: View = {
    duplicates: duplicatesIn(plan),
    known: (row, key, to) => {
      const state = stateOf?.(row, key) ?? null;
      const used = state?.outcome === 'accepted' ? (fallsBack?.(row) ?? null) : null;
      if (state !== null && used !== null) {
        begun.set(row, used);
        accepted.set(row, state);
        return null;
      }
      if (state === null) return null;
      const resend = asksAgain(state, key, to);
      if (resend === null && !UNDECIDED.has(state.outcome)) return state;
      if (state.used !== undefined) begun.set(row, state.used);
      const number = resend ?? state.resend ?? 0;
      if (number > 0) resent.set(row, number);
      return null;
    },
    rules: openRules(plan, sources),
    skipInvalid: options.skipInvalid === true || campaign.recipients.onInvalid === 'skip',
    winner: options.winner ?? winnerOfRun(plan, run ?? null) ?? winnerIn(winner),
  };
  return {
    view,
    claimRules() {
      claimRules ??= openClaimRules(plan, sources);
      return claimRules;
    },
    winner,
    startedAtMs: run?.startedAtMs ?? null,
    refusals,
    usedBy(row) {
      const used = begun.get(row) ?? null;
      if (used !== null) begun.delete(row);
      return used;
    },
    numbered(decision) {
      const resend = resent.get(decision.row);
      if (resend === undefined) return decision;
      resent.delete(decision.row);
      return decision.decision === 'send' ? { ...decision, resend } : decision;
    },
    insteadOf(decision) {
      const { row, line, key, to } = decision;
      const state = accepted.get(row);
      if (state !== undefined) accepted.delete(row);
      if (state === undefined || decision.decision === 'send' || key === null || to === null) return decision;
      return { decision: 'done', row, line, key, to, outcome: state.outcome, reason: state.reason };
    },
  };
}

async function refusalsOf(
  {
    plan,
    ledger,
    nowMs,
    start,
  }: {
    readonly plan: Plan;
    readonly ledger: Ledger | null;
    readonly nowMs: number;
    readonly start: PreviewedStart;
  },
  run: RunRecord | null,
): Promise<readonly Diagnostic[]> {
  const { amend = false, late = false } = start;
  if (run !== null && ledger !== null) return await continueRefusals({ ledger, plan, nowMs, amend, late }, run);
  const over = late ? null : await overRefusal(plan.campaign, plan.occurrence, nowMs);
  return over === null ? [] : [over];
}

/**
 * Says of a final outcome whether a start that asks for it sends to the recipient again, as `askAgain` in prepare.ts makes
 * the ledger do it: how many messages went to earlier addresses; null: it does not.
 */
function again(start: PreviewedStart, earlierOf: () => ReadonlyMap<string, readonly EarlierRow[]>) {
  let earlier: ReadonlyMap<string, readonly EarlierRow[]> | null = null;
  const wasSentTo = (key: string, to: string): boolean => {
    earlier ??= earlierOf();
    return (earlier.get(key) ?? []).some((row) => row.to === to);
  };
  return ({ outcome, to: sentTo = null, resend = 0 }: RowState, key: string, to: string): number | null => {
    const isCorrected = sentTo !== null && sentTo !== to;
    if (outcome === 'rejected' && start.retryRejected === true) {
      return resend > 0 && isCorrected && wasSentTo(key, to) ? null : resend;
    }
    const resends = outcome === 'accepted' && start.resendChanged === true && isCorrected && !wasSentTo(key, to);
    return resends ? resend + 1 : null;
  };
}

/** Channels that a report says did not reach a recipient, so that a fallback is due; asked in list order. */
function reportedIn(ledger: Ledger, run: RunRecord, campaign: Campaign) {
  const rows = unreachedRows(ledger, run, campaign);
  let head = rows.next();
  return (row: number): readonly Channel[] | null => {
    while (head.done !== true && head.value.row < row) head = rows.next();
    return head.done !== true && head.value.row === row ? head.value.used : null;
  };
}

const UNDECIDED: ReadonlySet<string> = new Set(['pending', 'failed', 'deferred']);

/** Adds to decisions the requests that send would make of them, in list order. */
interface Previewer {
  add(decision: Decision): void;
  /** Recipients whose request is complete, up to the first one that waits for others in the same request. */
  ready(): readonly Previewed[];
  /** What is left at the end of the list. */
  rest(): readonly Previewed[];
}

const NONE: readonly string[] = [];

/**
 * Packs requests as send does, so that what is shown is what is posted. Only a request that several recipients share
 * holds the rows back: as many as it takes, and no more.
 */
function createPreviewer(most: number, expand: Expander): Previewer {
  const packer = createPacker<{ readonly at: number; readonly decision: SendDecision }>(most);
  // By position since the beginning; null while the request is not known.
  let waiting: (Previewed | null)[] = [];
  let first = 0;
  const fallbacksOf = (decision: SendDecision): readonly string[] =>
    decision.fallbacks.length === 0 ? NONE : decision.fallbacks.map((m) => expand.one(decision, m).body);
  const alone = (decision: SendDecision): Previewed => ({
    decision,
    body: expand.one(decision, decision).body,
    sharedWith: null,
    fallbacks: fallbacksOf(decision),
  });
  const close = (batch: readonly { readonly at: number; readonly decision: SendDecision }[]): void => {
    const [head] = batch;
    if (head === undefined) return;
    if (batch.length === 1) {
      waiting[head.at - first] = alone(head.decision);
      return;
    }
    const body = expand.many(batch.map(({ decision }) => decision)).body;
    for (const { at, decision } of batch) {
      const own = at === head.at;
      waiting[at - first] = {
        decision,
        body: own ? body : null,
        sharedWith: own ? null : head.decision.line,
        fallbacks: fallbacksOf(decision),
      };
    }
  };
  const ready = (): readonly Previewed[] => {
    const end = waiting.indexOf(null);
    const shown = (end === -1 ? waiting : waiting.slice(0, end)).filter((row) => row !== null);
    waiting = end === -1 ? [] : waiting.slice(end);
    first += shown.length;
    return shown;
  };
  return {
    add(decision) {
      if (decision.decision !== 'send') {
        waiting.push({ decision, body: null, sharedWith: null, fallbacks: NONE });
        return;
      }
      // Hardly any campaign shares requests, and fallbacks never do: then nothing waits, and nothing need be packed.
      if (most === 1 || decision.leg > 0) {
        waiting.push(alone(decision));
        return;
      }
      const at = first + waiting.length;
      waiting.push(null);
      const batch = packer.add({ at, decision }, decision.variant);
      if (batch !== null) close(batch);
    },
    ready,
    rest() {
      for (const batch of packer.rest()) close(batch);
      return ready();
    },
  };
}

/** What the whole list comes to, as names and figures for people; once all rows were read. */
export function previewFacts(preview: Preview): readonly (readonly [name: string, value: string])[] {
  const { estimate } = preview.result();
  const skipped = Object.entries(estimate.skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const done = Object.entries(estimate.done).map(([outcome, count]) => `${number(count)} ${outcome}`);
  const rows: readonly (readonly [string, string | null])[] = [
    ['rows', number(estimate.rows)],
    ['to send', [number(estimate.send), partsText(estimate.parts)].filter((fact) => fact !== null).join(', ')],
    ['requests', requestsText(preview)],
    ['cost', costText(estimate)],
    ['fallback', fallbackText(estimate)],
    ['in steps', canaryText(preview.plan.campaign.send.canary)],
    ['variants', Object.keys(estimate.variants).length === 0 ? null : counted(estimate.variants)],
    ['winner', winnerText(preview.winner)],
    ['deferred', Object.keys(estimate.deferred).length === 0 ? null : counted(estimate.deferred)],
    ['opens', estimate.opensAt === undefined ? null : `${estimate.opensAt.slice(0, 16).replace('T', ' ')} UTC`],
    ['skipped', skipped.length === 0 ? null : skipped.join(', ')],
    ['done', done.length === 0 ? null : done.join(', ')],
    ['invalid', estimate.invalid === 0 ? null : number(estimate.invalid)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${number(count)} ${safeLine(name)}`)
    .join(', ');
}

/** Only where the campaign asks for more than one recipient in a request. */
function requestsText({ plan }: Preview): string | null {
  const { recipientsPerRequest: most } = plan.campaign.send;
  if (most === 1) return null;
  if (plan.recipientsPerRequest > 1) return `with up to ${number(most)} recipients each`;
  return plan.campaign.recipients.kind === 'contact'
    ? 'with one recipient each: contacts have no metadata of their own'
    : 'with one recipient each: the message differs from row to row';
}

function winnerText(state: WinnerState): string | null {
  if (state.kind === 'testing') return 'found after the test';
  if (state.kind === 'waits')
    return `found at ${new Date(state.untilMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return state.kind === 'none' ? null : winnerWords({ winner: state.decision });
}
