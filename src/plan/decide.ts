import { normaliseText } from '../content/normalise-text.ts';
import { isGsm, MAX_SMS_PARTS, smsFacts } from '../content/sms.ts';
import { transliterate } from '../content/transliterate.ts';
import { unicodeCauses } from '../content/unicode-causes.ts';
import { type Diagnostic, problem, refuse, warning } from '../errors.ts';
import type {
  Campaign,
  Decision,
  InvalidDecision,
  OutcomeState,
  Recipient,
  Replacement,
  Row,
  SendDecision,
  SkipDecision,
  SkipReason,
} from '../model.ts';
import type { ListDigest } from '../recipients/read.ts';
import { openList } from '../recipients/read.ts';
import { columnTag, RenderError } from '../templates/compile.ts';
import type { Personalised, Plan } from './plan.ts';

/** From where the rows are looked at: what the ledger knows of them, and which are wanted at all. */
export interface View {
  /** True when this key was not seen before in the list; absent where the ledger already knows the duplicates. */
  readonly isNew?: (key: string) => boolean;
  /** The final outcome that the ledger holds for a row, if any. */
  readonly known?: (
    row: number,
    key: string,
  ) => { readonly outcome: OutcomeState; readonly reason: string | null } | null;
  readonly suppressed?: (to: string, key: string) => boolean;
  /** Rows that are passed over without a look: asked once per row, in list order. */
  readonly wanted?: (row: number) => boolean;
  /** The bytes that the list must still have. */
  readonly expected?: ListDigest;
  /** Invalid rows become skipped ones. */
  readonly skipInvalid: boolean;
}

/** The decisions of a list, and - once they were all taken - the digest of the bytes that they were made from. */
export interface Decisions extends AsyncIterable<readonly Decision[]> {
  digest(): ListDigest;
}

/**
 * The one stream of decisions: preview prints it, send carries it out. One batch per chunk of the list, so that a
 * recipient does not cost a promise. Throws `HandbillError` where the list as a whole cannot be read.
 */
export function decisions(plan: Plan, view: View): Decisions {
  let digest: ListDigest | null = null;
  async function* stream(): AsyncGenerator<readonly Decision[]> {
    const decide = createDecider(plan, view);
    const list = await openList(
      plan.campaign.recipients,
      view.expected === undefined ? {} : { expected: view.expected },
    );
    try {
      if (list.columns.join('\n') !== plan.columns.join('\n')) throw refuse(headerChanged(plan));
      for await (const rows of list.rows()) {
        const batch: Decision[] = [];
        for (const row of rows) {
          if (view.wanted === undefined || view.wanted(row.row)) batch.push(decide(row));
        }
        yield batch;
      }
      digest = list.digest();
    } finally {
      await list.close();
    }
  }
  return {
    [Symbol.asyncIterator]: stream,
    digest: () => {
      if (digest === null) throw new Error('the digest of a list is known once it has been read to its end');
      return digest;
    },
  };
}

/** The list is opened once for its header and once for its rows; between the two it may have been replaced. */
function headerChanged(plan: Plan): Diagnostic {
  return problem('input-changed', 'The list was changed while it was being read.', {
    at: { file: plan.campaign.recipients.file, line: 1 },
    hint: 'Run it again when the list is complete.',
  });
}

/** A2: decides about one row; the rules in the order in which they count. */
function createDecider(plan: Plan, view: View): (row: Row) => Decision {
  const { stages, campaign } = plan;
  const content = createContentCheck(campaign);
  return (row) => {
    const recipient = stages.recipient(row);
    if ('problem' in recipient)
      return invalid(view, row.row, row.line, null, null, recipient.reason, recipient.problem);
    const { key, to } = recipient;
    // A duplicate is never bad, whatever else is wrong with it: the first row counts.
    if (view.isNew !== undefined && !view.isNew(key)) return skip(recipient, 'duplicate');
    const known = view.known?.(row.row, key);
    if (known) return { decision: 'done', row: row.row, line: row.line, key, to, ...known };
    if (view.suppressed?.(to, key)) return skip(recipient, 'suppressed');
    const missing = missingVariable(plan, recipient);
    if (missing !== null) return invalid(view, row.row, row.line, key, to, 'missing-variable', missing);
    try {
      const values = stages.values(recipient.values);
      const text = stages.text === null ? null : stages.text.render(values);
      const variables = stages.variables === null ? null : personalise(stages.variables, values);
      const metaData = stages.metaData === null ? null : personalise(stages.metaData, values);
      const message = content(text, recipient);
      if ('code' in message) return invalid(view, row.row, row.line, key, to, 'render-error', message);
      return {
        decision: 'send',
        row: row.row,
        line: row.line,
        key,
        to,
        recipient,
        text: message.text,
        variables,
        metaData,
        replaced: message.replaced,
        sms: message.sms,
      };
    } catch (error) {
      if (!(error instanceof RenderError)) throw error;
      const found = problem(error.reason, error.message, { at: { file: campaign.recipients.file, line: row.line } });
      return invalid(view, row.row, row.line, key, to, error.reason, found);
    }
  };
}

type Message = {
  readonly text: string | null;
  readonly replaced: readonly Replacement[];
  readonly sms: SendDecision['sms'];
};

const NOTHING_REPLACED: readonly Replacement[] = [];

/** What a channel makes of the rendered text: the message, or what is wrong with it. */
function createContentCheck(campaign: Campaign): (text: string | null, recipient: Recipient) => Message | Diagnostic {
  const at = (recipient: Recipient) => ({ at: { file: campaign.recipients.file, line: recipient.line } });
  const isSms = campaign.channel === 'sms';
  const { characterSet } = campaign;
  return (rendered, recipient) => {
    if (rendered === null) return { text: null, replaced: NOTHING_REPLACED, sms: null };
    let text = normaliseText(rendered);
    if (!/\S/.test(text)) return problem('empty-message', 'The message is empty for this row.', at(recipient));
    if (!isSms) return { text, replaced: NOTHING_REPLACED, sms: null };
    let replaced = NOTHING_REPLACED;
    let sms = smsFacts(text, characterSet);
    if (campaign.transliterate && characterSet !== 'unicode' && !isGsm(text)) {
      const other = transliterate(text);
      if (other.replaced.length > 0) {
        text = other.text;
        replaced = other.replaced;
        sms = smsFacts(text, characterSet);
      }
    }
    if (characterSet === 'gsm' && !isGsm(text)) {
      return problem('not-gsm', 'The message has characters outside GSM-7, and `characterSet: gsm` is asked for.', {
        ...at(recipient),
        hint: 'Set `characterSet: auto`, or `transliterate: true` where near letters will do.',
      });
    }
    if (sms.parts > MAX_SMS_PARTS) {
      return problem(
        'too-many-parts',
        `The message has ${sms.parts} parts; an SMS has at most ${MAX_SMS_PARTS}.`,
        at(recipient),
      );
    }
    return { text, replaced, sms };
  };
}

function missingVariable(plan: Plan, recipient: Recipient): Diagnostic | null {
  for (const { index, name } of plan.stages.required) {
    const value = recipient.values[index];
    if (value === undefined || value === '' || value.trim() === '') {
      return problem('missing-variable', `The column "${name}" is empty, and the template needs it.`, {
        at: { file: plan.campaign.recipients.file, line: recipient.line },
        hint: `Fill the cell, write {{default ${inTag(name)} "..."}}, or put the sentence into {{#if ${inTag(name)}}}.`,
      });
    }
  }
  return null;
}

/** The name as it is written inside a tag. */
function inTag(name: string): string {
  return columnTag(name).slice(2, -2);
}

function personalise(
  templates: Personalised,
  values: Parameters<Personalised[number]['template']['render']>[0],
): Record<string, string> {
  const own: Record<string, string> = Object.create(null);
  for (const { name, template } of templates) own[name] = template.render(values);
  return own;
}

function skip(recipient: Recipient, reason: SkipReason): SkipDecision {
  return { decision: 'skip', row: recipient.row, line: recipient.line, key: recipient.key, to: recipient.to, reason };
}

function invalid(
  view: View,
  row: number,
  line: number,
  key: string | null,
  to: string | null,
  reason: SkipReason,
  found: Diagnostic,
): InvalidDecision | SkipDecision {
  return view.skipInvalid
    ? { decision: 'skip', row, line, key, to, reason }
    : { decision: 'invalid', row, line, key, to, reason, problem: found };
}

/** What is worth knowing about a message that will be sent: shown by validate and preview, no reason to stop. */
export function warningsOf(campaign: Campaign, decision: SendDecision): readonly Diagnostic[] {
  const at = { at: { file: campaign.recipients.file, line: decision.line } };
  const found: Diagnostic[] = [];
  if (!decision.recipient.assigned) {
    found.push(warning('unassigned-number', 'The number is not in use by its numbering plan.', at));
  }
  if (decision.replaced.length > 0) {
    const list = [...new Set(decision.replaced.map((r) => `${r.from} -> ${r.to || 'nothing'}`))].join(', ');
    found.push(warning('transliterated', `Replaced to stay in GSM-7: ${list}.`, at));
  }
  if (decision.sms?.encoding === 'UCS-2' && campaign.characterSet === 'auto' && decision.text !== null) {
    found.push(unicodeWarning(decision.text, decision.sms.parts, at));
  }
  return found;
}

function unicodeWarning(text: string, parts: number, at: { at: Diagnostic['at'] & object }): Diagnostic {
  const causes = unicodeCauses(text);
  const named = [...new Set(causes.map((c) => c.character))].slice(0, 5).join(' ');
  const first = causes[0];
  const where = first === undefined ? '' : `, first at line ${first.line}, column ${first.column} of the message`;
  const plural = parts === 1 ? '1 part' : `${parts} parts`;
  return warning('unicode-message', `Outside GSM-7: ${named}${where}. The message is Unicode, in ${plural}.`, at);
}
