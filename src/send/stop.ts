import { HandbillError } from '../errors.ts';
import { ELSEWHERE, type Verdict } from '../http/classify.ts';
import { type ApiAddress, brokenAnswer, cannotConnect } from '../http/fault.ts';
import type { Share } from '../ledger/records.ts';
import type { Halt, HaltRule, Limits, Pause, Threshold } from '../model.ts';
import { pauseText, resumeHint } from '../report/pause-words.ts';
import { safeLine } from '../util/escape.ts';
import { maskText } from '../util/redact.ts';
import { wholePart } from '../util/units.ts';
import { number } from '../util/words.ts';

/**
 * The stop rules (failures.md, rule 10). A halt leaves everything that was not claimed `pending`; running again
 * continues. http/classify.ts decides rules that follow from a single answer (`verdict.halt`); rules that count are
 * here.
 */
export type Stop = ReturnType<typeof createStop>;

export interface About {
  /** 0, the default, for the campaign's own message; then the fallbacks. */
  readonly step?: number;
  /** Another recipient of the same request had the same outcome: rules that count events in a row count them once. */
  readonly sameEvent?: boolean | undefined;
  /** The recipient's line in the list, where the request was for no other. */
  readonly line?: number | undefined;
  /** Null: no answer came. */
  readonly status?: number | null;
}

export type Answers = Pick<Share, 'accepted' | 'rejected' | 'inDoubt' | 'firstSteps' | 'fellBack'>;

const NEXT: Readonly<Record<HaltRule, string>> = {
  'not-authorised':
    'First correct the key, the credit or the sender of the account: until then a send halts at the same recipient. No recipient was affected: send again after that.',
  'wrong-address':
    'Check `baseUrl` of this environment in handbill.yaml, then send again. If it is right, the API says this of that recipient alone: take the row out of the list, and send again with --allow input-changed.',
  'not-the-api':
    'Check `baseUrl` and the network: a login page or a proxy may have answered. `handbill doubt list` shows who may have the message.',
  tls: 'Check the certificate of the API and the host in `baseUrl`.',
  'invalid-request': 'This is a bug: please report it, with the output of `handbill report --format json`.',
  doubt: 'Resolve the doubts (`handbill doubt list` says how), then send the rest.',
  refusals: 'Correct what the API refuses, and send again with --allow input-changed.',
  'api-down': 'Check the network and `baseUrl`, then send again: failed recipients are tried again.',
  throttled: 'The API asked to wait. Set a lower `rate` for this environment in handbill.yaml, and send again later.',
  canary:
    'No other recipients were sent to. To go on anyway, change `send.canary` and send again with --allow input-changed.',
  'input-changed': 'Put it back as it was, or send again with --allow input-changed: final outcomes stay.',
  paused: 'Send again.',
  'over-budget': 'Send again in the next period, or raise the budget.',
  ledger: 'The ledger could not be written. Make room or repair the disk, then send again.',
};

const FIRST_REFUSALS = 20;
const DOUBTS_IN_A_ROW = 5;
const FAILURES_IN_A_ROW = 5;
const TOO_MANY = 429;
const THROTTLED_IN_A_ROW = 20;

export interface StopContext {
  /** Most recipients in flight at once. */
  readonly inFlight: number;
  /** Rows of the list, for limits that are shares of it. */
  readonly rows: number;
  readonly limits: Pick<Limits, 'stopAfterInDoubt' | 'stopAfterRejected'>;
  /** Answers to earlier starts of the run: its first answers can show that everything is refused. */
  readonly before: Omit<Answers, 'inDoubt'>;
  /** Counts of other workers that share the run; default: none. */
  readonly others?: () => Answers;
  /** Named where it cannot be reached. */
  readonly api: ApiAddress;
  /** The list, as the user would name it. */
  readonly list: string;
  readonly onHalt: () => void;
}

export const NO_ANSWERS = { accepted: 0, rejected: 0, inDoubt: 0, firstSteps: 0, fellBack: 0 };

export function createStop(context: StopContext) {
  const doubtLimit =
    threshold(context.limits.stopAfterInDoubt, context.rows) ??
    // The default: max(recipients in flight, min(1% of the list, 20)).
    Math.max(context.inFlight, Math.min(Math.ceil(context.rows / 100), 20));
  const { before, others = () => NO_ANSWERS } = context;
  const rejectedLimit = threshold(context.limits.stopAfterRejected, context.rows);
  let halt: Halt | null = null;
  const own = { ...NO_ANSWERS };
  let doubtsInARow = 0;
  let failuresInARow = 0;
  let answers = 0;
  let throttledInARow = 0;
  /** The last recipient of a start in which the host was never found; null: there is none, or another outcome came. */
  let unresolved: Verdict | null | undefined;

  const keep = (first: Halt): void => {
    if (halt !== null) return;
    halt = first;
    context.onHalt();
  };
  const stop = (rule: HaltRule, message: string, next = NEXT[rule]): void => keep({ rule, message, next });
  const throttled = (count: number): void => {
    const all = count === 1 ? 'The only answer was' : `The last ${count} answers were all`;
    stop('throttled', `${all} 429: the API takes fewer requests than it is sent.`);
  };

  return {
    /** Takes the status of each answer, also of attempts with another one after them. */
    answered(status: number): void {
      answers += 1;
      throttledInARow = status === TOO_MANY ? throttledInARow + 1 : 0;
      if (throttledInARow >= THROTTLED_IN_A_ROW) throttled(THROTTLED_IN_A_ROW);
    },
    /** The list has ended, and nothing is in flight. */
    ended(): void {
      if (answers > 0 && throttledInARow === answers) throttled(answers);
      if (unresolved) stop('api-down', `${unreachable(unresolved, context.api)}. No recipient was sent to.`);
    },
    /** Takes the final verdict of one recipient in this start; the first rule that applies is kept. */
    note(verdict: Verdict, about: About = {}): void {
      const { outcome } = verdict;
      const { step = 0 } = about;
      const event = about.sameEvent === true ? 0 : 1;
      if (verdict.halt !== null)
        keep(haltByAnswer(verdict.halt, verdict, about, before.accepted + own.accepted + others().accepted, context));
      unresolved = unresolved !== null && verdict.reason === 'dns' && outcome === 'failed' ? verdict : null;
      // Only an answer ends a row: an API that resets its connections does so now before and now after the first byte.
      if (outcome === 'failed') failuresInARow += event;
      if (outcome === 'in-doubt') {
        own.inDoubt += 1;
        doubtsInARow += event;
      }
      if (outcome === 'accepted' || outcome === 'rejected') {
        failuresInARow = 0;
        doubtsInARow = 0;
      }
      if (outcome === 'accepted') own.accepted += 1;
      if (outcome === 'accepted' && step === 0) own.firstSteps += 1;
      if (outcome === 'rejected') own.rejected += 1;

      const more = others();
      const allDoubts = own.inDoubt + more.inDoubt;
      if (allDoubts >= doubtLimit) {
        const doubted = allDoubts === 1 ? '1 recipient is' : `${allDoubts} recipients are`;
        stop('doubt', `${doubted} in doubt since this start (limit ${doubtLimit}).`);
      }
      if (doubtsInARow >= DOUBTS_IN_A_ROW)
        stop('doubt', `${DOUBTS_IN_A_ROW} recipients are in doubt, with no answer in between.`);
      if (failuresInARow >= FAILURES_IN_A_ROW) {
        stop(
          'api-down',
          `${unreachable(verdict, context.api)}. ${FAILURES_IN_A_ROW} recipients in a row could not be sent to.`,
        );
      }
      const allRejected = own.rejected + more.rejected;
      if (before.accepted + own.accepted + more.accepted === 0 && isReached(before.rejected, allRejected)) {
        stop('refusals', `The first ${FIRST_REFUSALS} answers were all refusals.`);
      }
      if (rejectedLimit !== null && allRejected >= rejectedLimit) {
        const refused = allRejected === 1 ? '1 recipient was' : `${allRejected} recipients were`;
        stop('refusals', `${refused} refused in this start (limits.stopAfter.rejected).`);
      }
    },
    /** Takes a recipient who cannot receive the first channel step and is sent the next one. */
    fellBack(): void {
      own.fellBack += 1;
      // A channel that is misspelt or switched off looks the same, and all recipients would get the costlier message.
      const more = others();
      if (
        isReached(before.fellBack, own.fellBack + more.fellBack) &&
        before.firstSteps + own.firstSteps + more.firstSteps === 0
      ) {
        stop('refusals', `The first ${FIRST_REFUSALS} recipients cannot receive the channel, says the API.`);
      }
    },
    /** A request was made for other recipients than the environment may send to. */
    outside: () => stop('invalid-request', 'A request was for a recipient outside of `only`: it was not sent.'),
    /** A person paused the environment or the campaign; null: a person has resumed it. */
    paused(pause: Pause | null): void {
      if (pause === null) stop('paused', 'Sending was paused, and resumed since.');
      else stop('paused', pauseText(pause), resumeHint(pause));
    },
    overBudget: ({ message, next }: Pick<Halt, 'message' | 'next'>) => stop('over-budget', message, next),
    /** The gate of the canary is shut by this figure. */
    shut: (figure: string) => stop('canary', `The gate of the canary is shut: ${figure}`),
    get halt(): Halt | null {
      return halt;
    },
    get isAccepting() {
      return own.accepted + others().accepted > 0;
    },
    get counts(): Answers {
      return { ...own };
    },
  };
}

/** Only for a limit that this start reaches: one that earlier starts reached does not halt it. */
function isReached(before: number, now: number): boolean {
  return before < FIRST_REFUSALS && before + now >= FIRST_REFUSALS;
}

function threshold(limit: Threshold | null, rows: number): number | null {
  if (limit === null) return null;
  return Math.max(1, 'count' in limit ? limit.count : wholePart(limit.share, rows));
}

/** Rules after an answer that may be about its recipient alone. */
const ABOUT_ONE: ReadonlySet<HaltRule> = new Set(['not-authorised', 'wrong-address', 'not-the-api']);
/**
 * No credit, a proxy's log-in, statuses that halt only before the address accepted anything: never about a recipient.
 */
const ABOUT_ALL: ReadonlySet<number> = new Set([402, 407, ...ELSEWHERE]);

/** The halt that one answer causes. It may name a row by its line, never by its address: the ledger keeps the text. */
function haltByAnswer(
  rule: HaltRule,
  verdict: Verdict,
  { line, status = null }: About,
  accepted: number,
  { api, list }: Pick<StopContext, 'api' | 'list'>,
): Halt {
  const message = haltMessage(rule, verdict, api);
  const where = line === undefined ? '' : ` The answer was to ${list}:${line}.`;
  // A 2xx whose body refuses, but not because of the recipient (failures.md, D1a).
  if (rule === 'refusals') return { rule, message: `${message}${where}`, next: DENIED };
  const says = quoted(verdict.says ?? (rule === 'not-authorised' ? verdict.error : null) ?? '');
  if (verdict.says !== null || line === undefined || !ABOUT_ONE.has(rule))
    return { rule, message: `${message}${says}`, next: NEXT[rule] };
  const named = { rule, message: `${message}${where}${says}` };
  const check = CHECK[rule];
  if (check === undefined || accepted === 0 || (status !== null && ABOUT_ALL.has(status)))
    return { ...named, next: NEXT[rule] };
  const were = accepted === 1 ? 'message of this run was' : 'messages of this run were';
  const why = `${number(accepted)} ${were} accepted before, so it is probably this recipient`;
  const otherwise = `If others are answered so too, ${check}`;
  if (verdict.outcome === 'in-doubt')
    return { ...named, next: `${why}, who is in doubt: send again, and the others are sent to. ${otherwise}` };
  const way =
    'take the row out of the list, or exclude it with `recipients.where`, and send again with --allow input-changed.';
  return { ...named, next: `${why}: ${way} ${otherwise}`, at: { file: list, line } };
}

/** In the words of the API, without addresses: the ledger keeps them. A page has none. */
function quoted(text: string): string {
  const line = safeLine(maskText(text.trim()));
  return /^(?:<|$)/.test(line)
    ? ''
    : ` It says: ${line.length > MOST_QUOTED ? `${line.slice(0, MOST_QUOTED)}...` : line}`;
}

const MOST_QUOTED = 200;

const DENIED =
  'Find out what it means, and whether the message arrived (`handbill doubt list`), then send again. If it means that the message was taken, write the word under `wire.response.recipientStatus.accepted` (`handbill help answers`).';

/** Points to check where the answers are not about one recipient. */
const CHECK: Partial<Readonly<Record<HaltRule, string>>> = {
  'not-authorised': 'check the API key, the account and its credit.',
  'wrong-address': 'check `baseUrl` of this environment in handbill.yaml.',
};

/** The host and the reason, from the first words of the recorded error: `ECONNREFUSED: connect ECONNREFUSED ...`. */
function unreachable({ error, reason }: Verdict, api: ApiAddress): string {
  const [, code = reason ?? 'no connection', message = ''] = /^(\w+): (.*)$/s.exec(error ?? '') ?? [];
  return cannotConnect(api, { code, message });
}

function haltMessage(rule: HaltRule, verdict: Verdict, api: ApiAddress): string {
  const why = verdict.reason === null ? '' : ` (${verdict.reason})`;
  const broken = brokenAnswer(verdict.error ?? '');
  return {
    'not-authorised': `The API refused the account or the key${why}.`,
    'wrong-address': `The API is not at this address${why}.`,
    'not-the-api':
      verdict.reason === 'mismatch'
        ? 'The API gives every request the same answer: a mock server with fixed answers does this (`handbill help mismatch`).'
        : `${broken === null ? "An answer came that is not the API's" : `The ${broken}`}${why}.`,
    tls: `${unreachable(verdict, api)}.`,
    'invalid-request': `The request could not be made${why}.`,
    doubt: `Too many recipients are in doubt${why}.`,
    refusals: `The API answered with success, and its answer says no: ${verdict.field ?? 'the body'}.`,
    'api-down': `${unreachable(verdict, api)}.`,
    throttled: `The API asks to wait for more than 15 minutes${why}.`,
    canary: `The gate of the canary is shut${why}.`,
    'input-changed': `An input was changed while it was being sent from${why}.`,
    paused: `Sending was paused${why}.`,
    'over-budget': `The budget has no room for a message${why}.`,
    ledger: `The ledger could not be written${why}.`,
  }[rule];
}

/** For an input that has changed since the run was prepared, or cannot be read any more. */
export function inputHalt({ code, message, diagnostics }: HandbillError): Halt {
  const rule = 'input-changed';
  if (code === rule) return { rule, message, next: NEXT[rule] };
  const { file, line } = diagnostics[0]?.at ?? {};
  const place = file === undefined ? 'An input' : `${file}${line === undefined ? '' : `:${line}`}`;
  // The ledger keeps this text permanently, so it must contain no data from the file.
  return {
    rule,
    message: `${place} cannot be read any more (${code}).`,
    next: 'Correct it, then send again: handbill names any other error before the first request.',
  };
}

/** For a ledger that could not be written; exit status 7, not 5. */
export function ledgerHalt(error: Error): Halt {
  const hint = error instanceof HandbillError ? error.diagnostics[0]?.hint : undefined;
  return { rule: 'ledger', message: error.message, next: hint ?? NEXT.ledger };
}
