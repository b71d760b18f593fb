import type { Diagnostic } from '../errors.ts';
import type { Channel, DeferReason, OutcomeState, SendRequest, SkipReason } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import type { Previewed, PreviewedStart, PreviewRows } from '../plan/previewed.ts';
import { previewPlan } from '../send/preview.ts';
import { iso } from '../util/time.ts';
import {
  allowOption,
  checkAllow,
  checkNumbers,
  INSTANT,
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  withDefaults,
} from './options.ts';
import { planOf } from './project.ts';
import type { Metered } from './validate.ts';

export const PREVIEW = {
  environment: OPTIONS.environment,
  occurrence: OPTIONS.occurrence,
  winner: { flag: '--winner <variant>', says: 'as if this variant had won its test', without: 'as the run knows' },
  at: {
    flag: '--at <instant>',
    says: 'as if the run started then',
    inHelp: ', for example 2026-12-01T09:00:00Z or +14d',
    more: 'In ms since 1970.',
    without: "the run's own start, else now",
    kind: 'instant',
    range: INSTANT,
  },
  recipients: OPTIONS.recipients,
  allow: allowOption(),
} as const satisfies OptionTable;

/** The environment, the occurrence and the list of a preview. */
export interface PreviewOptions extends ProjectOptions, OptionsOf<typeof PREVIEW> {}

/** One request, as send would make it. It holds no key. */
export interface PreviewRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its UTF-8 bytes are those that send posts, with `***` for secrets in it. */
  readonly body: string;
}

/** The message that goes out where the channel before cannot be received. */
export interface PreviewFallback extends Pick<PreviewSend, 'channel' | 'to' | 'text' | 'parts'> {
  readonly request: PreviewRequest;
}

export interface PreviewRow {
  /** First line of the row in its file. */
  readonly line: number;
  /** Null where the row has no address. */
  readonly key: string | null;
  readonly to: string | null;
}

export type PreviewDecision =
  | PreviewSend
  | (PreviewRow & { readonly decision: 'skip'; readonly reason: SkipReason; readonly detail: string | null })
  | (PreviewRow & {
      readonly decision: 'defer';
      readonly reason: DeferReason;
      readonly detail: string | null;
      /** When the rule will allow it, ISO 8601 in UTC; null where that is not known. */
      readonly until: string | null;
    })
  /** The ledger holds a final outcome already. */
  | (PreviewRow & {
      readonly decision: 'done';
      readonly outcome: OutcomeState;
      readonly reason: string | null;
      /** The address that the message went to, where the list has another one by now; else null. */
      readonly sentTo: string | null;
    })
  /** Such a row refuses the whole run. */
  | (PreviewRow & { readonly decision: 'invalid'; readonly reason: SkipReason; readonly problem: Diagnostic });

export interface PreviewSend extends PreviewRow {
  readonly decision: 'send';
  readonly key: string;
  readonly to: string;
  readonly channel: Channel;
  readonly variant: string | null;
  /** Text or speech; null where the message is only a provider template or rich content. */
  readonly text: string | null;
  /** SMS parts; null on other channels. */
  readonly parts: number | null;
  /** SMS only. */
  readonly encoding: 'GSM-7' | 'UCS-2' | null;
  /** Worth knowing about this message; no reason not to send it. */
  readonly warnings: readonly Diagnostic[];
  /** Null where this recipient shares the request of another row. */
  readonly request: PreviewRequest | null;
  /** Line of the row that shows the shared request; null where this recipient has a separate one. */
  readonly sharedWithLine: number | null;
  readonly fallbacks: readonly PreviewFallback[];
}

export interface PreviewResult {
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  /** The day from which relative dates in `recipients.where` count, such as `2026-11-25`; null: none is relative. */
  readonly day: string | null;
  readonly url: string;
  /** The sample that was read because the list is not there; null: the list was read. */
  readonly sample: string | null;
  readonly estimate: Estimate;
  /** No row or limit refuses the run. */
  readonly valid: boolean;
  /** Errors that refuse the run, at most 1,000 rows. */
  readonly problems: readonly Diagnostic[];
  /** The number of errors of all rows. */
  readonly problemCount: number;
  /** About the campaign as a whole. */
  readonly warnings: readonly Diagnostic[];
}

/** A dry run. Nothing is opened before you read from it. */
export interface Preview {
  /**
   * Every decision, in list order. Each loop reads the list anew, in a stream, and closes what it opened when it ends,
   * is left or fails. Throws HandbillError exit 2: what is wrong with the campaign as a whole.
   */
  readonly decisions: AsyncIterable<PreviewDecision>;
  /** From the last loop that reached its end, else from a separate scan. Throws as `decisions`. */
  result(): Promise<PreviewResult>;
}

/**
 * `handbill preview`: shows what send would do, from the same stream of decisions. Opens no connection, not even DNS; a
 * ledger is read and never created.
 *
 * @param target - a campaign file, its folder, or its name
 */
export function preview(target: string, options: PreviewOptions = {}): Preview {
  checkNumbers(options, PREVIEW);
  let last: PreviewResult | null = null;
  async function* pass(): AsyncGenerator<readonly PreviewDecision[], void, undefined> {
    const shown = await previewRows(target, options);
    try {
      for await (const batch of shown.batches) yield batch.map((row) => toDecision(shown, row));
      last = toResult(shown);
    } finally {
      shown.close();
    }
  }
  return {
    decisions: {
      async *[Symbol.asyncIterator]() {
        for await (const batch of pass()) yield* batch;
      },
    },
    async result() {
      if (last === null) for await (const _ of pass());
      if (last === null) throw new Error('a pass that ends has a result');
      return last;
    },
  };
}

/**
 * As `preview`, but one loop over the rows, with their plan. Throws exit 2 for an error of the campaign as a whole.
 * @param given - `start`: previews a start of `send` with these options; default: `send` without options
 */
export async function previewRows(
  target: string,
  given: PreviewOptions & Metered & { readonly start?: PreviewedStart } = {},
): Promise<PreviewRows> {
  checkAllow(given);
  const options = withDefaults(given, PREVIEW);
  const isStart = options.start !== undefined;
  // A dry run of a start shows what that would do.
  const how = { nowMs: options.at ?? options.now(), withSample: !isStart, toShow: true, asSend: isStart };
  const { plan, warnings } = await planOf(target, options, how);
  return await previewPlan({ ...plan, warnings }, options);
}

function toDecision(shown: PreviewRows, { decision, request, sharedWith, fallbacks }: Previewed): PreviewDecision {
  const { line, key, to } = decision;
  const row = { line, key, to };
  switch (decision.decision) {
    case 'send': {
      const { channel, variant, text, sms } = decision;
      return {
        decision: 'send',
        line,
        key: decision.key,
        to: decision.to,
        channel,
        variant,
        text,
        parts: sms?.parts ?? null,
        encoding: sms?.encoding ?? null,
        warnings: shown.warn(decision),
        request: request === null ? null : requestOf(request),
        sharedWithLine: sharedWith,
        fallbacks: fallbacks.map((one, i) => {
          const message = decision.fallbacks[i];
          const { channel, to, text, sms } = message ?? decision;
          return { channel, to, text, parts: sms?.parts ?? null, request: requestOf(one) };
        }),
      };
    }
    case 'skip':
      return { decision: 'skip', ...row, reason: decision.reason, detail: decision.detail ?? null };
    case 'defer': {
      const { reason, detail = null, untilMs } = decision;
      return { decision: 'defer', ...row, reason, detail, until: untilMs === undefined ? null : iso(untilMs) };
    }
    case 'done':
      return {
        decision: 'done',
        ...row,
        outcome: decision.outcome,
        reason: decision.reason,
        sentTo: decision.sentTo ?? null,
      };
    case 'invalid':
      return { decision: 'invalid', ...row, reason: decision.reason, problem: decision.problem };
  }
}

function requestOf({ form, body }: SendRequest): PreviewRequest {
  return { method: 'POST', url: form.url, headers: { 'content-type': form.contentType }, body };
}

function toResult(shown: PreviewRows): PreviewResult {
  const { campaign, environment, occurrence, day } = shown.plan;
  const { estimate, problems, problemCount, warnings } = shown.result();
  return {
    campaign: campaign.name,
    environment: environment.name,
    occurrence,
    day: day?.text ?? null,
    url: environment.url,
    sample: campaign.recipients.sampled === undefined ? null : campaign.recipients.file,
    estimate,
    valid: problemCount === 0,
    problems,
    problemCount,
    warnings: [...warnings, ...shown.warnings],
  };
}
