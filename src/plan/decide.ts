import { type Diagnostic, problem, refuse } from '../errors.ts';
import type {
  Allowable,
  Campaign,
  Decision,
  DeferDecision,
  DeferReason,
  DoneDecision,
  InvalidDecision,
  OutcomeState,
  Recipient,
  Row,
  SendDecision,
  SkipDecision,
  SkipReason,
  StepMessage,
} from '../model.ts';
import { createDuplicates, type Duplicate, type Duplicates } from '../recipients/duplicates.ts';
import { type RowCheck, withAllFaults } from '../recipients/faults.ts';
import { type ListDigest, openList } from '../recipients/read.ts';
import { isInvalidRow } from '../recipients/recipient.ts';
import { RenderError, type TemplateValues } from '../templates/compile.ts';
import type { Meter } from '../util/long-work.ts';
import { createAssigner } from './assign.ts';
import type { Closed } from './gate.ts';
import type { ListFacts } from './list-guard.ts';
import type { Plan } from './plan.ts';
import { type OpenRules, openRules, otherCountry } from './skip-rules.ts';
import { writeAll, writeFallbacks, writeMessage } from './write-message.ts';

export interface View {
  /** Absent where the ledger already knows duplicates. */
  readonly duplicates?: Duplicates;
  /** The final outcome that the ledger holds for a row, if any. */
  readonly known?: (
    row: number,
    key: string,
    to: string,
  ) => {
    readonly outcome: OutcomeState;
    readonly reason: string | null;
    /** The address that the message went to; absent or null: nothing is known of it. */
    readonly to?: string | null;
  } | null;
  /** The rules that skip recipients; absent: those of the campaign that need no ledger, list or clock. */
  readonly rules?: OpenRules;
  /** Asked once per row, in list order; a pass ignores the other rows. */
  readonly wanted?: (row: number) => boolean;
  /** The bytes that the list must still have. */
  readonly expected?: ListDigest;
  /** Told how far the list was read. */
  readonly meter?: Meter | undefined;
  /** Invalid rows become skipped ones. */
  readonly skipsInvalid: boolean;
  /** The variant that those get who are not in the test; default: what the campaign says. */
  readonly winner?: string | null;
  /** The variant (null: none) of a message whose fallback is due; undefined: the recipient had no message yet. */
  readonly variantOf?: (row: number, key: string) => string | null | undefined;
}

export function duplicatesIn({ campaign, compiled }: Plan): Duplicates {
  const { kind, key, each } = campaign.recipients;
  // A person may have several times, so that a key tells more than an address does.
  if (each !== null) return createDuplicates({ kind: 'contact', byAddress: false, used: compiled.used });
  return createDuplicates({ kind, byAddress: key.length > 0, used: compiled.used });
}

/** `digest`: of the bytes, once all decisions were taken. */
export interface Decisions extends AsyncIterable<readonly Decision[]> {
  digest(): ListDigest;
  /** The whole list, as its guards are asked about it. */
  facts(): ListFacts;
  notes(): readonly Diagnostic[];
}

/** One batch per chunk of the list, so that a row costs no promise. Throws HandbillError: the list cannot be read. */
export function decisions(plan: Plan, view: View): Decisions {
  let read: { readonly digest: ListDigest; readonly facts: ListFacts } | null = null;
  let notes: readonly Diagnostic[] = [];
  async function* stream(): AsyncGenerator<readonly Decision[]> {
    const decide = createDecider(plan, view);
    const list = await openList(plan.campaign.recipients, view);
    let seen = 0;
    try {
      // The list is opened once for its header and once for its rows; in between it may have been replaced.
      if (list.columns.join('\n') !== plan.columns.join('\n')) {
        const at = { file: plan.campaign.recipients.file, line: 1 };
        const hint = 'Run it again when the list is complete.';
        throw refuse(problem('input-changed', 'The list was changed while it was being read.', { at, hint }));
      }
      for await (const rows of list.rows()) {
        yield decideRows(rows, view, decide);
        seen = list.count();
      }
      const digest = list.digest();
      const { file } = plan.campaign.recipients;
      read = { digest, facts: { file, rows: list.count(), changedAtMs: list.changedAtMs, sha256: digest.sha256 } };
      notes = list.notes();
    } catch (error) {
      throw await withAllFaults(plan.campaign.recipients, error, seen, () => rowCheck(plan, view));
    } finally {
      await list.close();
    }
  }
  const whole = () => {
    if (read !== null) return read;
    throw new Error('the digest of a list is known once it has been read to its end');
  };
  return {
    [Symbol.asyncIterator]: stream,
    notes: () => notes,
    digest: () => whole().digest,
    facts: () => whole().facts,
  };
}

/** V8 does not optimise a loop in a generator that is called once: 3 us a row. */
function decideRows(rows: readonly Row[], { wanted }: View, decide: (row: Row) => Decision): readonly Decision[] {
  const batch: Decision[] = [];
  for (const row of rows) if (wanted === undefined || wanted(row.row)) batch.push(decide(row));
  return batch;
}

const NO_MESSAGES: readonly never[] = [];

/** Bad rows are skipped: the campaign, or the user, says so. Else they refuse the run. */
export function skipsInvalid({ recipients }: Pick<Campaign, 'recipients'>, allow: readonly Allowable[]): boolean {
  return recipients.onInvalid === 'skip' || allow.includes('invalid-rows');
}

function rowCheck(plan: Plan, { rules, skipsInvalid }: View): RowCheck {
  const decide = createDecider(plan, rules === undefined ? { skipsInvalid } : { rules, skipsInvalid });
  return (row) => {
    const decision = decide(row);
    return decision.decision === 'invalid' ? decision.problem : null;
  };
}

/** Finds the recipient, asks the rules (skip-rules.ts) and writes the messages (failures.md, A2). */
function createDecider(plan: Plan, view: View): (row: Row) => Decision {
  const { compiled, campaign } = plan;
  const { segment, messages, branches } = compiled;
  const hasOwnFallbacks = messages.some(({ fallbacks }) => fallbacks.some(({ variant }) => variant !== null));
  const winner = view.winner ?? campaign.split.winner;
  // The holdout is a rule (skip-rules.ts), so the picker ignores it.
  const assign = createAssigner(campaign.variants, { ...campaign.split, holdout: 0, winner });
  const rules = view.rules ?? openRules(plan);
  const { file } = campaign.recipients;
  const { countries } = plan.environment;
  const { fence } = plan;
  const within = (messages: readonly StepMessage[]): readonly StepMessage[] =>
    fence === null ? messages : messages.filter(({ to }) => fence.reaches(to));
  return (row) => {
    // Rows outside `recipients.where` are not validated: a bad row there does not refuse the run.
    if (segment !== null && row.values !== null && segment.judge(row.values) === 'out') {
      return excluded(row, row.values, plan, view);
    }
    const recipient = compiled.recipient(row);
    if ('problem' in recipient) {
      return invalid(view, row, null, recipient.reason, recipient.problem);
    }
    const { key, to } = recipient;
    const twin = view.duplicates?.find(recipient) ?? null;
    // Whatever else is wrong with a duplicate, the first row counts.
    const left = twin === null ? null : leftOut(plan, view, recipient, twin);
    if (left !== null) return left;
    const known = view.known?.(row.row, key, to);
    if (known) return done(recipient, known);
    let later: Extract<Closed, { readonly decision: 'defer' }> | null = null;
    for (const { reason, check } of rules) {
      const ruling = check(recipient);
      if (ruling === null) continue;
      if (typeof ruling === 'string') return skip(recipient, reason, ruling);
      if (ruling.decision === 'skip') return skip(recipient, ruling.reason, ruling.detail);
      if (later === null || (later.opensAtMs ?? 0) < (ruling.opensAtMs ?? Number.POSITIVE_INFINITY)) later = ruling;
    }
    try {
      const values = compiled.values(recipient.values);
      // A fallback is of the variant of the message before it, whichever the row would get now.
      const before = hasOwnFallbacks ? view.variantOf?.(row.row, key) : undefined;
      const begun = before === undefined ? -1 : messages.findIndex(({ variant }) => variant === before);
      const branch =
        begun !== -1
          ? begun
          : (branches.find(({ segment: own }) => own.judge(recipient.values) === 'in')?.index ?? null);
      if (later !== null) {
        const waiting = deferred(plan, view, recipient, values, branch, later.reason);
        if (waiting.decision !== 'defer') return waiting;
        const { detail, opensAtMs } = later;
        return opensAtMs === null ? { ...waiting, detail } : { ...waiting, detail, untilMs: opensAtMs };
      }
      const assigned = branch === null ? assign(key) : { kind: 'variant', index: branch };
      if (assigned.kind === 'undecided') return deferred(plan, view, recipient, values, branch, 'winner-undecided');
      const message = messages[assigned.kind === 'variant' ? assigned.index : campaign.variants.length];
      if (message === undefined) throw new Error('a plan has a message for every assignment');
      const at = { file, line: row.line };
      const first = writeMessage(message, recipient, values, at);
      if ('code' in first) return invalid(view, row, recipient, reasonOf(first), first);
      const { fallbacks } = message;
      const rest = fallbacks.length === 0 ? NO_MESSAGES : writeFallbacks(fallbacks, recipient, values, at);
      if ('code' in rest) return invalid(view, row, recipient, reasonOf(rest), rest);
      const decision: SendDecision = {
        decision: 'send',
        row: row.row,
        line: row.line,
        key,
        to,
        recipient,
        variant: message.variant,
        step: 0,
        channel: first.channel,
        country: first.country,
        text: first.text,
        variables: first.variables,
        content: first.content,
        rendered: first.rendered,
        metaData: first.metaData,
        headers: first.headers,
        replaced: first.replaced,
        sms: first.sms,
        fallbacks: within(countries === null ? rest : rest.filter((one) => otherCountry(countries, one) === null)),
      };
      return twin === null ? decision : { ...decision, sameAddressAs: twin.line };
    } catch (error) {
      if (!(error instanceof RenderError)) throw error;
      const place = { at: { file, line: row.line }, hint: error.hint ?? undefined };
      const found = problem(error.reason, error.message, place);
      return invalid(view, row, recipient, error.reason, found);
    }
  };
}

/** Null: the campaign sends to both. */
function leftOut(
  { campaign: { recipients } }: Plan,
  view: View,
  recipient: Recipient,
  { of, line, isSame }: Duplicate,
): SkipDecision | InvalidDecision | null {
  const rule = recipients.duplicates;
  const what = of === 'key' ? `of line ${line}` : `of line ${line}, which has the same address and another key`;
  if (rule === 'refuse') {
    const message = `The row is a duplicate ${what}${isSame ? '' : ', with other values'}.`;
    const hint = 'Remove one of the two rows, or set `recipients.duplicates: skip`: then the first row counts.';
    const at = { file: recipients.file, line: recipient.line };
    return invalid(view, recipient, recipient, 'duplicate', problem('duplicate-row', message, { at, hint }));
  }
  if (of === 'address' && rule !== 'skip') return null;
  return {
    ...skip(recipient, 'duplicate', `${what}${isSame ? '' : ', with other values'}`),
    duplicateOf: line,
    isSame,
  };
}

/** A row that `recipients.where` excludes, and that was not sent to before; the key only where the row has one. */
function excluded(row: Row, values: readonly string[], { compiled }: Plan, view: View): SkipDecision | DoneDecision {
  const recipient = compiled.recipient(row);
  const { key, to } = recipient;
  const known = isInvalidRow(recipient) ? null : (view.known?.(row.row, recipient.key, recipient.to) ?? null);
  if (known !== null && known.outcome !== 'skipped' && key !== null && to !== null) {
    return done({ row: row.row, line: row.line, key, to }, known);
  }
  const detail = compiled.segment?.why(values) ?? null;
  const decision: SkipDecision = { decision: 'skip', row: row.row, line: row.line, key, to, reason: 'excluded' };
  return detail === null ? decision : { ...decision, detail };
}

/** The ledger has the outcome. It says what address the message went to, which the list may have corrected since. */
function done(
  { row, line, key, to }: Pick<DoneDecision, 'row' | 'line' | 'key' | 'to'>,
  { outcome, reason, to: sentTo = null }: NonNullable<ReturnType<NonNullable<View['known']>>>,
): DoneDecision {
  const decision: DoneDecision = { decision: 'done', row, line, key, to, outcome, reason };
  return sentTo === null || sentTo === to || !WENT_OUT.has(outcome) ? decision : { ...decision, sentTo };
}

const WENT_OUT: ReadonlySet<OutcomeState> = new Set(['accepted', 'rejected', 'in-doubt']);

/** A recipient that waits must be able to get any variant and fallback: an error in one refuses the run. */
function deferred(
  plan: Plan,
  view: View,
  recipient: Recipient,
  values: TemplateValues,
  branch: number | null,
  reason: DeferReason,
): DeferDecision | InvalidDecision | SkipDecision {
  const { messages, branches } = plan.compiled;
  const conditional = new Set(branches.map(({ index }) => index));
  // The message of the condition that the recipient meets, or all without a condition.
  const possible = messages.filter((_, index) => (branch === null ? !conditional.has(index) : index === branch));
  const at = { file: plan.campaign.recipients.file, line: recipient.line };
  // In the send pass every message was written once already, by the check pass over the same bytes.
  const mayGet = view.expected === undefined ? writeAll(possible, recipient, values, at) : NO_MESSAGES;
  if ('code' in mayGet) return invalid(view, recipient, recipient, reasonOf(mayGet), mayGet);
  const { row, line, key, to } = recipient;
  return { decision: 'defer', row, line, key, to, reason, recipient, mayGet };
}

function reasonOf({ code }: Diagnostic): SkipReason {
  return code === 'missing-variable' || code === 'invalid-address' ? code : 'render-error';
}

function skip({ row, line, key, to }: Recipient, reason: SkipReason, detail: string): SkipDecision {
  const decision: SkipDecision = { decision: 'skip', row, line, key, to, reason };
  return detail === '' ? decision : { ...decision, detail };
}

function invalid(
  view: View,
  { row, line }: { readonly row: number; readonly line: number },
  recipient: Recipient | null,
  reason: SkipReason,
  found: Diagnostic,
): InvalidDecision | SkipDecision {
  const key = recipient?.key ?? null;
  const to = recipient?.to ?? null;
  return view.skipsInvalid
    ? { decision: 'skip', row, line, key, to, reason, detail: found.message }
    : { decision: 'invalid', row, line, key, to, reason, problem: found };
}
