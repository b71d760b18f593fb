import { type Diagnostic, problem, warning } from '../errors.ts';
import type { FollowedMessage, Ledger, Reach } from '../ledger/ledger.ts';
import { isRedirected } from '../ledger/records.ts';
import type { Campaign, Decision, FollowUp, Recipient } from '../model.ts';
import { foldDelivery, foldStates, hasEnded } from '../report/fold-delivery.ts';
import { listedForm } from '../util/address-form.ts';
import { isTest } from '../util/occurrence-name.ts';
import { utcText } from '../util/time.ts';
import { createReferences } from './expand.ts';
import type { Closed } from './gate.ts';
import type { Plan } from './plan.ts';

/** The message before may still go out; a run with failed recipients is not finished, and its next start tries them again. */
const OPEN: ReadonlySet<string> = new Set(['pending', 'claimed', 'deferred', 'failed']);

/** The least wait of a recipient whose message before is still to go out. */
const LEAST_MS = 60_000;

/** The rule of `after`; null: the campaign follows on no other. The same for each look at a row, and for its claim. */
export function createFollowUp(plan: Plan, ledger: Ledger, reach: Reach) {
  const { after } = plan.campaign;
  if (after === null) return null;
  const { wait } = after;
  const before = `${after.campaign}@${plan.occurrence}`;
  const exception = exceptionsOf(plan, after, ledger, reach);
  const later = (atMs: number): Closed => ({
    decision: 'defer',
    reason: 'follow-up-later',
    detail: `not before ${utcText(atMs)}, ${wait.written} after ${before}`,
    opensAtMs: atMs,
  });
  const whyNot = (sent: FollowedMessage | null, key: string): string | null => {
    if (sent === null) return `not in ${before}`;
    if (OPEN.has(sent.state)) return null;
    if (sent.state !== 'accepted') return `${sent.state} in ${before}`;
    const why = exception(sent, key);
    return why === null ? null : `${why} ${before}`;
  };
  // Whenever the message before goes out, this one waits as long after it; with `wait: 0m`, it still comes second.
  const dueMs = (sent: FollowedMessage, nowMs: number): number =>
    OPEN.has(sent.state) ? nowMs + Math.max(wait.ms, LEAST_MS) : sent.claimedAtMs + wait.ms;
  let counted = 0;
  return {
    counted: () => counted,
    /** Recipients of the message before among those of the list, whatever the rules say of them. */
    count({ key, ...decided }: Decision): void {
      const isAgain = decided.decision === 'skip' && decided.reason === 'duplicate';
      if (key !== null && !isAgain && reach.followed(key)?.state === 'accepted') counted += 1;
    },
    /** Why a recipient gets none, or gets it later; null: it is their turn. */
    check({ key }: Pick<Recipient, 'key'>, nowMs: number): string | Closed | null {
      const sent = reach.followed(key);
      const why = whyNot(sent, key);
      if (sent === null || why !== null) return why;
      const atMs = dueMs(sent, nowMs);
      return atMs > nowMs ? later(atMs) : null;
    },
    /** For the claim: an answer or a report may have come in between, and the message before may go out again. */
    atClaim(key: string, nowMs: number): 'no-follow-up' | 'follow-up-later' | null {
      const sent = reach.followed(key);
      if (sent === null || whyNot(sent, key) !== null) return 'no-follow-up';
      return dueMs(sent, nowMs) > nowMs ? 'follow-up-later' : null;
    },
  };
}

function exceptionsOf(
  { environment, occurrence }: Pick<Plan, 'environment' | 'occurrence'>,
  { id: campaign, unless }: FollowUp,
  ledger: Ledger,
  reach: Reach,
): (sent: FollowedMessage, key: string) => string | null {
  const identity = { environment: environment.identity, campaign, occurrence };
  const referenceOf = createReferences(identity);
  const isAnswered = unless.includes('replied');
  const asksReplies = isAnswered || unless.includes('opted-out');
  const asksReports = unless.includes('delivered-not');
  const { events } = ledger;
  const run = asksReports ? ledger.findRun(identity) : null;
  // Reports name the address that it was redirected to.
  const isElsewhere = run !== null && isRedirected(run);
  const replyTo = (sent: FollowedMessage, key: string) =>
    reach.replyTo(sent, { sender: listedForm(sent.to), reference: referenceOf(key, sent.channel, sent.resend) });
  return (sent, key) => {
    const reply = asksReplies ? replyTo(sent, key) : null;
    if (reply === 'opt-out') return 'opted out after';
    if (reply !== null && isAnswered) return 'replied to';
    if (!asksReports) return null;
    const { channel, messageId, to, claimedAtMs, resend, postedFrom = environment.identity } = sent;
    const reference = events.hasReferences() ? referenceOf(key, channel, resend) : null;
    const address = isElsewhere ? null : to;
    const message = { environment: postedFrom, reference, messageId, to: address, claimedAtMs };
    const said = foldStates(events.statesOf([message])[0] ?? 0);
    const state = said === 'several-ends' ? (foldDelivery(events.reportsOf(message))?.state ?? null) : said;
    return state !== null && hasEnded(state) ? 'not reached by' : null;
  };
}

export function notSentBefore({ campaign, environment, occurrence }: Plan, sent: readonly string[]): Diagnostic | null {
  const { after } = campaign;
  if (after === null || sent.includes(occurrence)) return null;
  const message = `${campaign.name} follows ${after.campaign}, which was not sent to ${environment.name} as "${occurrence}".`;
  const hint =
    sent.length === 0
      ? `Send ${after.campaign} first. \`handbill due\` then sends this one when its time has come.`
      : `Name an occurrence that was sent: --occurrence ${sent.at(-1)}.`;
  return problem('run-not-found', message, { ...after.place, hint });
}

/** The list of a follow-up lacks most recipients of the message before: it may be another list, or have another key. */
export function otherList(
  { campaign, occurrence }: Pick<Plan, 'campaign' | 'occurrence'>,
  accepted: number,
  found: number,
): readonly Diagnostic[] {
  const { after } = campaign;
  if (after === null || found * 2 >= accepted) return [];
  const message = `Of ${accepted} recipients of ${after.campaign}@${occurrence}, ${found} are in the list of ${campaign.name}.`;
  const hint = 'Recipients are found by their key: use the same list and `recipients.key` in both campaigns.';
  return [warning('follow-up-list', message, { ...after.place, hint })];
}

/** Oldest first. */
export function sentBefore(
  { after }: Pick<Campaign, 'after'>,
  environment: string,
  ledger: Pick<Ledger, 'runsOf'> | null,
): readonly string[] {
  if (after === null || ledger === null) return [];
  const runs = ledger.runsOf({ environment, campaign: after.id });
  const sent = runs.filter(({ occurrence, startedAtMs }) => startedAtMs !== null && !isTest(occurrence));
  return sent.map(({ occurrence }) => occurrence);
}
