import type { Attempt } from '../../src/model.ts';
import { type Asked, FORMS } from '../oracle/forms.ts';
import type { Behaviour } from './behaviour.ts';
import type { StartPlan } from './plan.ts';
import { type Edition, WINNERS } from './scene.ts';
import type { LedgerView, RowView } from './watch.ts';
import type { World } from './world.ts';

/** What one process may do, checked while it does it. */
export interface Rules {
  /**
   * The ledger has another start of this process: with `--wait`, one for each opening. Attempts, retries and the canary
   * count for a start; `--limit`, a `Retry-After` and the rate hold for the process.
   */
  started(): void;
  /** The delivery of one recipient begins. */
  begins(key: string): void;
  /** Its claim is on the disk. */
  claimed(row: RowView): void;
  posting(body: string, asked: Asked): void;
  answered(asked: Asked, behaviour: Behaviour, attempt: Attempt): void;
  connectFailed(code: string): void;
  ledgerFailed(operation: string): void;
  /** From here on nothing more may be posted. */
  stopped(why: string): void;
  ended(state: string, ledgerFailed: boolean): void;
  readonly posts: number;
}

interface RulesOptions {
  readonly name: string;
  readonly plan: StartPlan;
  readonly edition: Edition;
  readonly world: World;
  readonly view: LedgerView;
}

/** Statuses that end a start by themselves (FAILURES rule 10). */
const HALTING = new Set([300, 301, 302, 303, 304, 305, 306, 307, 308, 401, 402, 403, 407, 501, 505, 511]);
const HALTING_CODES = new Set(['CERT_HAS_EXPIRED', 'UND_ERR_INVALID_ARG']);
const LONGEST_WAIT_S = 15 * 60;
/** What a late turn may catch up (send/throttle.ts). */
const CATCH_UP_MS = 20;

export function createRules({ name, plan, edition, world, view }: RulesOptions): Rules {
  /** Claims that no post has used. */
  const tickets = new Set<string>();
  /** Requests, by their recipients. */
  const inFlight = new Map<string, Asked>();
  const perRequest = edition.plan.recipientsPerRequest;
  /** Requests of this start, by recipient. */
  const attempts = new Map<string, number>();
  const people = new Set<string>();
  const begun = new Set<string>();
  const claimedByUs = new Set<string>();
  const accepted = new Map<string, string | null>();
  let posts = 0;
  let postsBefore = 0;
  let retries = 0;
  /** Who had begun when there were too many retries; null while there are not. */
  let begunInTime: ReadonlySet<string> | null = null;
  let canary = true;
  let stopped: string | null = null;
  let heldFrom = 0;
  let heldUntil = 0;
  /** When the next post is due, at the rate. */
  let dueMs = Number.NEGATIVE_INFINITY;

  const object = (what: string): void => world.object(`${name}: ${what}`);

  const checkRate = (): void => {
    if (plan.ratePerSecond === null) return;
    const interval = 1000 / plan.ratePerSecond;
    const now = world.monotonicMs;
    if (now < dueMs - CATCH_UP_MS - 1e-6) object(`posts faster than ${plan.ratePerSecond}/s`);
    dueMs = Math.max(dueMs, now - CATCH_UP_MS) + interval;
  };
  const checkRetries = (references: readonly string[]): void => {
    let again = false;
    for (const reference of references) {
      const before = attempts.get(reference) ?? 0;
      attempts.set(reference, before + 1);
      const most = plan.attempts * levelsOf(perRequest);
      if (before + 1 > most) object(`${reference} is posted for the ${before + 1}th time, of ${most}`);
      again ||= before > 0;
    }
    if (again) world.cover('retry');
    // Halves are not retries, and cannot be told apart here.
    if (perRequest > 1) return;
    if (again) retries += 1;
    const ofStart = posts - postsBefore;
    const tooMany = retries > Math.max(10, ofStart * 0.1);
    if (!tooMany) begunInTime = null;
    else begunInTime ??= new Set(begun);
    if (begunInTime === null) return;
    world.cover('one lane after too many retries');
    const keys = [...inFlight.values()].flatMap((other) => other.references).map(edition.keyOf);
    const late = keys.filter((key) => begunInTime?.has(key) === false);
    if (late.length > 1) object(`${late.length} recipients at a time after ${retries} retries of ${ofStart} requests`);
  };
  const checkBody = (body: string, references: readonly string[]): void => {
    const bodies = edition.bodies(view.winner);
    // A fallback that was begun is that of its variant, whichever won since; at the end, `otherFallbacks` knows which.
    const isBegun = (reference: string, part: string | undefined) =>
      edition.isFallback(reference) && WINNERS.some((winner) => edition.bodies(winner).get(reference) === part);
    const parts = references.length === 1 ? [body] : FORMS[edition.form].apart(body);
    for (const [at, reference] of references.entries()) {
      if (bodies.get(reference) === parts[at] || isBegun(reference, parts[at])) continue;
      object(`posts ${reference} with another body than previewed: ${body}`);
    }
  };

  return {
    get posts() {
      return posts;
    },
    started() {
      if (attempts.size > 0) world.cover('another start at an opening');
      attempts.clear();
      begun.clear();
      begunInTime = null;
      postsBefore = posts;
      retries = 0;
      canary = true;
    },
    begins: (key) => begun.add(key),
    claimed(row) {
      const reference = row.key === null ? '?' : edition.plan.referenceOf(row.key, row.channel);
      tickets.add(reference);
      claimedByUs.add(reference);
      // A claim that was asked for when the clock was set is still written.
      const isLate = plan.notAfterMs !== null && world.wallMs > plan.notAfterMs + 1000;
      if (isLate && world.monotonicMs > world.clockSetMs + 1000) object(`claims row ${row.row} too late`);
    },
    posting(body, asked) {
      const { references } = asked;
      const who = references.join(' ');
      posts += 1;
      world.cover('posted');
      if (references.length > 1) world.cover('posted to several');
      world.note(() => `${name} posts ${who}`);
      for (const reference of references) {
        if (!tickets.delete(reference)) object(`posts ${reference} without a claim`);
        const row = view.byReference(reference);
        // J4: without the lock, another start takes a claim that the disk still works on for that of a crash. No recipient is
        // sent to out of a doubt.
        const isTakenForCrash = row?.state === 'in-doubt' && row.reason === 'crash';
        if (row?.state !== 'claimed' && !isTakenForCrash) object(`posts ${reference}, which is not claimed`);
        if (row !== undefined && row.postedFrom !== plan.environment)
          object(`posts ${reference} from ${plan.environment}, and it is claimed for ${row.postedFrom}`);
      }
      if (new Set(references).size < references.length) object(`posts to somebody twice in one request: ${who}`);
      if (references.length > perRequest) object(`posts to ${references.length} in one request`);
      checkBody(body, references);
      if (stopped !== null) object(`posts after ${stopped}`);
      if (world.monotonicMs > heldFrom && world.monotonicMs < heldUntil)
        object(`posts ${heldUntil - world.monotonicMs} ms before Retry-After is over`);
      if (canary && inFlight.size > 0) object('posts beside the canary');
      inFlight.set(who, asked);
      if (inFlight.size > plan.concurrency) object(`${inFlight.size} requests in flight`);
      checkRate();
      checkRetries(references);
      for (const reference of references) people.add(edition.keyOf(reference));
      if (plan.limit !== null && people.size > plan.limit) object(`posts to ${people.size}, more than --limit`);
    },
    answered({ references }, { each, id, kind }, { phase, status, retryAfter }) {
      inFlight.delete(references.join(' '));
      const whole = phase === 'P4' && status !== null && status < 300;
      for (const [at, reference] of references.entries()) {
        const taken = each === null ? kind === 'accepted' || kind === 'accepted-empty' : each[at]?.said === 'taken';
        if (!whole || !taken) continue;
        canary = false;
        accepted.set(reference, each === null ? id : (each[at]?.id ?? null));
      }
      if (status === null) return;
      if (HALTING.has(status)) stopped ??= `status ${status}`;
      const halts =
        kind === 'denied-2xx' || kind === 'account-2xx' || (kind === 'refused-2xx' && references.length > 1);
      // Said with any status, and of any of several.
      const isAboutAccount = each?.some(({ said }) => said === 'account') === true;
      if ((whole && halts) || (phase === 'P4' && isAboutAccount)) stopped ??= `a ${kind}`;
      const wait = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
      if (wait > LONGEST_WAIT_S && wait < 1e6) stopped ??= `Retry-After: ${wait}`;
      else if (wait > 0 && wait <= LONGEST_WAIT_S) {
        // A claim that was being written is still used.
        if (world.monotonicMs >= heldUntil) heldFrom = world.monotonicMs + 1;
        heldUntil = Math.max(heldUntil, world.monotonicMs + wait * 1000);
        world.cover('Retry-After');
      }
    },
    connectFailed(code) {
      if (HALTING_CODES.has(code)) stopped ??= code;
    },
    ledgerFailed(operation) {
      if (operation === 'commit' || operation === 'skip') stopped ??= 'a failure of the ledger';
    },
    stopped(why) {
      stopped ??= why;
    },
    ended(state, ledgerFailed) {
      world.cover(`ended:${state}`);
      if (ledgerFailed) return;
      for (const reference of claimedByUs) {
        // With two at a time the other one may have it.
        if (plan.onlyOwn || view.byReference(reference)?.state !== 'claimed') continue;
        object(`${reference} is still claimed although the start has ended`);
      }
      for (const reference of accepted.keys()) {
        const row = view.byReference(reference);
        const found = row?.state;
        // Another process may have seen meanwhile that it was not delivered.
        if (found !== 'accepted' && row?.reason !== 'fell-back')
          object(`${reference} was accepted by the API and is ${found} in the ledger`);
      }
    },
  };
}

/** How often a request can be halved until it is for one, and once more. */
function levelsOf(recipients: number): number {
  return 1 + Math.ceil(Math.log2(recipients));
}
