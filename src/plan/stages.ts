import { type Diagnostic, problem } from '../errors.ts';
import type { AddressKind, Campaign, Fallback, Recipient, Row } from '../model.ts';
import { type AddressReader, createAddressReader } from '../recipients/address.ts';
import { resolveColumns } from '../recipients/columns.ts';
import type { List } from '../recipients/read.ts';
import { createRecipientReader, type InvalidRow } from '../recipients/recipient.ts';
import { compileSegment, type Segment } from '../recipients/segment.ts';
import type { TemplateValues } from '../templates/compile.ts';
import { createValues } from '../templates/values.ts';
import { didYouMean } from '../util/suggest.ts';
import { type CompiledLeg, compileLeg } from './compile-leg.ts';
import { addressKindOf } from './leg-of.ts';
import { createWriter, type Writer } from './message.ts';
import { type CheckContent, compileNamed, type Workshop } from './workshop.ts';

/** What is done to a row, in order. */
export interface Stages {
  /** Null: all recipients. */
  readonly segment: Segment | null;
  readonly recipient: (row: Row) => Recipient | InvalidRow;
  readonly values: (values: readonly string[]) => TemplateValues;
  /** The columns that any message uses, by position. */
  readonly used: readonly number[];
  /** The campaign's own message, or one for each variant. */
  readonly messages: readonly Message[];
  readonly fallbacks: readonly FallbackMessage[];
}

/** One message that a recipient may get. */
export interface Message {
  /** Null for the campaign's own. */
  readonly variant: string | null;
  /** The columns (by position) that must not be empty, with their names. */
  readonly required: readonly { readonly index: number; readonly name: string }[];
  readonly write: Writer;
}

export interface FallbackMessage extends Message {
  /** Where the address on this channel comes from; null: it is the recipient's own. */
  readonly address: {
    readonly column: number;
    readonly name: string;
    readonly kind: AddressKind;
    readonly read: AddressReader;
  } | null;
}

export interface CompiledStages {
  /** Null where an error prevents it. */
  readonly stages: Stages | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly isPersonal: boolean;
}

/** Compiles everything that is done to a row; everything that is wrong with any of it comes back at once. */
export async function compileStages(
  campaign: Campaign,
  list: List,
  check: CheckContent | null,
): Promise<CompiledStages> {
  const { columns } = list;
  const diagnostics: Diagnostic[] = [];
  const shop: Workshop = { campaign, columns, diagnostics, used: new Set(), check };
  const own: (readonly [string | null, CompiledLeg])[] = [];
  const mains = campaign.variants.length === 0 ? [{ name: null, leg: campaign }] : campaign.variants;
  for (const { name, leg } of mains) {
    const compiled = await compileLeg(leg, shop);
    if (compiled !== null) own.push([name, compiled]);
  }
  const fallbacks: (readonly [Fallback, CompiledLeg])[] = [];
  for (const fallback of campaign.fallbacks) {
    const compiled = await compileLeg(fallback, shop);
    if (compiled !== null) fallbacks.push([fallback, compiled]);
  }
  const metaData = campaign.recipientMetaData === null ? null : compileNamed(campaign.recipientMetaData, shop);
  const addresses = resolveColumns(campaign.recipients, columns, list.headerLine);
  if (Array.isArray(addresses)) diagnostics.push(...addresses);
  const segment = segmentOf(campaign, columns, diagnostics);
  for (const fallback of campaign.fallbacks) checkFallbackAddress(fallback, campaign, list, diagnostics);
  const isPersonal = own.some(([, leg]) => leg.isPersonal);
  if (diagnostics.some((d) => d.severity === 'error')) return { stages: null, diagnostics, isPersonal };

  const message = (variant: string | null, leg: CompiledLeg, index: number): Message => ({
    variant,
    required: leg.required.map((name) => ({ index: columns.indexOf(name), name })),
    write: createWriter(leg, index, metaData),
  });
  const stages: Stages = {
    segment,
    recipient: createRecipientReader(campaign.recipients, columns),
    values: createValues(columns, [...shop.used]),
    used: columns.flatMap((name, i) => (shop.used.has(name) ? [i] : [])),
    messages: own.map(([variant, leg]) => message(variant, leg, 0)),
    fallbacks: fallbacks.map(([fallback, leg], i) => ({
      ...message(null, leg, i + 1),
      address: addressOf(fallback, campaign, columns),
    })),
  };
  return { stages, diagnostics: unique(diagnostics), isPersonal };
}

/** Variants share metadata and may share texts: what is said of them is said once. */
function unique(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((d) => [JSON.stringify([d.code, d.message, d.at]), d])).values()];
}

function segmentOf(campaign: Campaign, columns: readonly string[], diagnostics: Diagnostic[]): Segment | null {
  const { where, columns: types } = campaign.recipients;
  if (where === null) return null;
  const compiled = compileSegment(where, columns, types);
  if ('segment' in compiled) return compiled.segment;
  diagnostics.push(...compiled);
  return null;
}

function checkFallbackAddress(fallback: Fallback, campaign: Campaign, list: List, diagnostics: Diagnostic[]): void {
  const { recipients, file } = campaign;
  const needed = addressKindOf(campaign, fallback);
  if (fallback.to === null) {
    if (needed === recipients.kind) return;
    const message = `The fallback to ${fallback.channel} has no address: the list is one of ${KINDS[recipients.kind]}.`;
    const hint = `Name the column with the ${KINDS[needed]}: fallback: { channel: ${fallback.channel}, to: COLUMN }`;
    diagnostics.push(problem('missing-key', message, { at: { file }, hint }));
  } else if (!list.columns.includes(fallback.to)) {
    diagnostics.push(
      problem('unknown-column', `The list has no column "${fallback.to}" (\`fallback.to\`).`, {
        at: { file: recipients.file, line: list.headerLine },
        ...didYouMean(fallback.to, list.columns),
      }),
    );
  }
}

const KINDS: Readonly<Record<AddressKind, string>> = {
  msisdn: 'phone numbers',
  email: 'email addresses',
  contact: 'ids of contacts',
};

function addressOf(fallback: Fallback, campaign: Campaign, columns: readonly string[]): FallbackMessage['address'] {
  if (fallback.to === null) return null;
  const kind = addressKindOf(campaign, fallback);
  const read = createAddressReader(kind, campaign.recipients.defaultCountry);
  return { column: columns.indexOf(fallback.to), name: fallback.to, kind, read };
}
