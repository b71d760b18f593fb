import type { Outcome } from '../../src/model.ts';
import type { Receipt, Said } from './receipts.ts';

/** What one step of a recipient became. */
export type StepEnding = Pick<Outcome, 'outcome' | 'reason' | 'httpStatus' | 'messageId'> & {
  /** A report let it fall back; absent: the API's refusal did. */
  readonly byReport?: true | undefined;
  /** handbill's own id, by which receipts are found; null for a row too bad to have one. */
  readonly reference: string | null;
};

/** What a recipient's row became, as the ledger says it: of its last step, where it has several. */
export type Ending = StepEnding &
  Pick<Outcome, 'line' | 'key'> & {
    /** Every step in order, the last included; only where there is more than one. */
    readonly steps?: readonly StepEnding[];
  };

/** Everything that is known of one run from outside. */
export interface Evidence {
  /** The first line of each row of the list. */
  readonly lines: readonly number[];
  readonly endings: readonly Ending[];
  /** What the server received, in the order in which it came. */
  readonly receipts: readonly Receipt[];
  /** How many receipts there were when each start began; one start from the beginning when absent. */
  readonly starts?: readonly number[];
  /** Body by reference, as previewed; not compared when absent. */
  readonly previewed?: ReadonlyMap<string, string>;
  /** Statuses with a rule `retry`. */
  readonly retryStatuses?: readonly number[];
  /** Statuses with a rule that refuses the request as a whole, and 413. */
  readonly tooLargeStatuses?: readonly number[];
  /** Steps of the campaign: a recipient who cannot receive one gets the next; not checked when absent. */
  readonly steps?: number;
  /** By reference, how often a person asked for another send: `--resend`, `--retry rejected`. */
  readonly askedAgain?: ReadonlyMap<string, number>;
  /** References of messages of which a report says that they were not delivered: their step may have fallen back for it. */
  readonly unreached?: ReadonlySet<string>;
  /** How many rows may be in doubt because of kills: kills x concurrency; not checked when absent. */
  readonly mostCrashes?: number;
}

/**
 * What the evidence says against the promise, in words; an empty list when it holds (FAILURES section 3). The receipts
 * are the truth: the server wrote each of them before it answered.
 */
export function violations(evidence: Evidence): string[] {
  const counting = countingReceipts(evidence);
  const all = groupBy(evidence.receipts, ({ reference }) => reference ?? '?');
  const found = [...everyRowOnce(evidence), ...nobodyUnknown(evidence, all), ...bodies(evidence)];
  for (const ending of evidence.endings) {
    if (isDuplicate(ending)) continue;
    const steps = ending.steps ?? [ending];
    for (const [at, step] of steps.entries()) {
      const reference = step.reference ?? '';
      const mine = { all: all.get(reference) ?? [], counting: counting.get(reference) ?? [] };
      const most = 1 + (evidence.askedAgain?.get(reference) ?? 0);
      const where = `line ${ending.line} (${reference}${steps.length > 1 ? `, step ${at}` : ''})`;
      const byReport = evidence.unreached?.has(reference) === true;
      for (const what of judge(step, mine, most, byReport)) found.push(`${where}: ${what}`);
    }
    for (const what of order(steps, all, evidence)) found.push(`line ${ending.line}: ${what}`);
  }
  const crashes = evidence.endings.filter(({ outcome, reason }) => outcome === 'in-doubt' && reason === 'crash').length;
  if (crashes > (evidence.mostCrashes ?? crashes)) {
    found.push(`${crashes} rows are in doubt after kills, more than ${evidence.mostCrashes}`);
  }
  return found;
}

interface Mine {
  readonly all: readonly Receipt[];
  readonly counting: readonly Receipt[];
}

function* judge(ending: StepEnding, { all, counting }: Mine, most: number, byReport: boolean): Generator<string> {
  const { outcome, reason, httpStatus, messageId } = ending;
  const said = reason === null ? outcome : `${outcome}(${reason})`;
  if (ending.byReport === true && !byReport) yield `${said} by a report, but none said that it did not arrive`;
  if (counting.length > most) yield `${said}, but received ${counting.length} times: ${statuses(counting)}`;
  const last = counting.at(-1);
  if (outcome === 'accepted') {
    if (last === undefined) yield `${said}, but never received (${statuses(all)})`;
    else if (reason === 'resolved' && counting.some(({ reportedAs }) => reportedAs !== undefined)) {
      // Reports may be about the message before one that was ordered.
      if (!counting.some(({ id, reportedAs }) => messageId === id || messageId === reportedAs))
        yield `${said} with id ${messageId}, and reports say ${last.reportedAs}`;
    } else if (last.id !== messageId) yield `${said} with id ${messageId}, but the server gave out ${last.id}`;
    else if ((last.said ?? 'taken') !== 'taken') yield `${said}, but the server said ${last.said}`;
  } else if (outcome === 'rejected' && reason === 'fell-back' && byReport && last?.said !== 'unsupported') {
    if (last === undefined) yield `${said} by a report, but never received (${statuses(all)})`;
    else if (ending.byReport !== true) yield `${said} as if it was refused, and it costs something`;
  } else if (outcome === 'rejected') {
    const wrong = counting.filter(({ status }) => status !== httpStatus);
    if (all.at(-1)?.status !== httpStatus) yield `${said} with ${httpStatus}, but the last answer was ${statuses(all)}`;
    // A person may have ordered another message to one who was in doubt.
    const isWrong = most === 1 ? wrong.length > 0 : reason !== 'fell-back' && wrong.some(mayHaveArrived);
    if (isWrong) yield `${said} with ${httpStatus}, but answered ${statuses(wrong)}`;
    const final = all.at(-1);
    const refusals = REFUSAL_SAYS[reason ?? ''] ?? ['refused', 'unsupported'];
    if (final?.said !== undefined && !refusals.includes(final.said)) yield `${said}, but the server said ${final.said}`;
  } else if (outcome === 'in-doubt') {
    // What was plain is known; but for an answer that was not waited for any more.
    if (reason === 'unrecognised' && last?.said !== undefined && PLAIN_REFUSALS.has(last.said)) {
      yield `${said}, but the server said ${last.said}`;
    }
  } else if (counting.length > most - 1 || (outcome === 'skipped' && counting.some(mayHaveArrived))) {
    yield `${said}, but received: ${statuses(counting)}`;
  }
}

/** The API did not refuse it plainly: a recipient who is skipped or rejected has no such receipt, whatever a person asked for. */
function mayHaveArrived({ status, said }: Receipt): boolean {
  if (said !== undefined && said !== 'unclear') return said === 'taken';
  return status === null || status < 400 || status >= 500 || status === 408 || status === 499;
}

const PLAIN_REFUSALS: ReadonlySet<Said> = new Set(['refused', 'unsupported', 'opted-out']);

const REFUSAL_SAYS: Readonly<Record<string, readonly Said[]>> = {
  'fell-back': ['unsupported'],
  'unsupported-channel': ['unsupported'],
  refused: ['refused'],
  'opted-out': ['opted-out'],
};

/** A step goes out when the API has said that the one before cannot be received, and not before. */
function* order(
  steps: readonly StepEnding[],
  all: ReadonlyMap<string, readonly Receipt[]>,
  evidence: Evidence,
): Generator<string> {
  const { steps: most = steps.length } = evidence;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1];
    const isLast = next === undefined;
    if (isLast === (step.reason === 'fell-back'))
      yield `step ${at} of ${steps.length} is ${step.outcome}(${step.reason})`;
    if (isLast && step.reason === 'unsupported-channel' && step.outcome === 'rejected' && steps.length < most) {
      yield `step ${at} cannot be received, and no other follows`;
    }
    if (isLast) continue;
    const said = all.get(step.reference ?? '')?.at(-1);
    const byReport = evidence.unreached?.has(step.reference ?? '') === true;
    if (said?.said !== 'unsupported' && !byReport)
      yield `step ${at} fell back, but the server said ${said?.said ?? statuses([])}`;
    const follows = all.get(next.reference ?? '')?.[0];
    if (said !== undefined && follows !== undefined && follows.number <= said.number) {
      yield `step ${at + 1} was received before step ${at} was refused`;
    }
  }
  if (steps.length > most) yield `${steps.length} steps, of ${most}`;
}

/** The outcomes add up to the rows of the list: each line once, and no other. */
function* everyRowOnce({ lines, endings }: Evidence): Generator<string> {
  const ended = groupBy(endings, ({ line }) => line);
  for (const line of lines) {
    const times = ended.get(line)?.length ?? 0;
    if (times !== 1) yield `line ${line} of the list has ${times} outcomes`;
  }
  if (endings.length > lines.length) yield `${endings.length} outcomes for ${lines.length} rows`;
}

function* nobodyUnknown({ endings }: Evidence, all: ReadonlyMap<string, readonly Receipt[]>): Generator<string> {
  const known = new Set(endings.flatMap((ending) => (ending.steps ?? [ending]).map(({ reference }) => reference)));
  for (const [reference, receipts] of all) {
    if (!known.has(reference)) yield `${receipts.length} receipts for ${reference}, whom the ledger does not know`;
  }
}

function* bodies({ previewed, receipts }: Evidence): Generator<string> {
  if (previewed === undefined) return;
  for (const { reference, text, number } of receipts) {
    const wanted = previewed.get(reference ?? '');
    if (wanted !== text)
      yield `receipt ${number} (${reference}) is not what was previewed: ${text} instead of ${wanted}`;
  }
}

/** Statuses by which the API says that it did nothing, whichever recipient it is. */
const REFUSALS = new Set([429, 425, 401, 402, 403, 407, 307, 308, 501, 505]);
const WRONG_ADDRESS = new Set([404, 405, 410]);

/** Those receipts that are a message to a recipient, by reference. */
function countingReceipts(evidence: Evidence): Map<string, Receipt[]> {
  const { endings, receipts, retryStatuses = [], tooLargeStatuses = [413], starts = [0] } = evidence;
  const rejected = new Set(
    endings.flatMap((one) =>
      (one.steps ?? [one]).flatMap((step) => (step.outcome === 'rejected' ? [step.reference] : [])),
    ),
  );
  const last = new Map(receipts.map(({ reference }, at) => [reference, at]));
  let accepted = false;
  const counting = receipts.filter(({ status, said, reference, recipients = 1, isUnreadable }, at) => {
    if (starts.includes(at)) accepted = false;
    if (status === null || said === 'account' || said === 'busy') return status === null;
    // Of several recipients none was tried: each of them may be another matter.
    if (recipients > 1 && status >= 400 && (said === 'unsupported' || tooLargeStatuses.includes(status))) return false;
    if (said !== undefined && said !== 'unclear') {
      accepted ||= said === 'taken';
      return true;
    }
    if (REFUSALS.has(status) || retryStatuses.includes(status)) return false;
    // Before this start was accepted, whether an earlier one was is known to the ledger alone: a 404 that rejected is the last.
    if (WRONG_ADDRESS.has(status) && !accepted && !(rejected.has(reference) && last.get(reference) === at))
      return false;
    // A 2xx that leaves its own recipient in doubt does not show that the API is at this address (FAILURES, D2).
    accepted ||= status >= 200 && status < 300 && said !== 'unclear' && isUnreadable !== true;
    return true;
  });
  return groupBy(counting, ({ reference }) => reference ?? '?');
}

/** The first row of a key is the one that counts; a later one has nothing to do with what was received. */
function isDuplicate({ outcome, reason }: Ending): boolean {
  return outcome === 'skipped' && reason === 'duplicate';
}

function statuses(receipts: readonly Receipt[]): string {
  return receipts.length === 0 ? 'nothing' : receipts.map(({ status }) => status ?? 'no answer').join(', ');
}

function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  return Map.groupBy(items, keyOf);
}
