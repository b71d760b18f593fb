import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type {
  AddressKind,
  Campaign,
  Channel,
  Environment,
  Fallback,
  InputFile,
  Leg,
  Recipient,
  Row,
} from '../model.ts';
import { type AddressReader, createAddressReader } from '../recipients/address.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { type List, openList } from '../recipients/read.ts';
import { createRecipientReader, type InvalidRow } from '../recipients/recipient.ts';
import { compileSegment, type Segment } from '../recipients/segment.ts';
import type { TemplateValues } from '../templates/compile.ts';
import { createValues } from '../templates/values.ts';
import { didYouMean } from '../util/suggest.ts';
import {
  type CheckContent,
  type CompiledLeg,
  compileLeg,
  compileNamed,
  loadCheck,
  type Workshop,
} from './compile-leg.ts';
import { createExpander, type Expander } from './expand.ts';
import { createWriter, type Writer } from './message.ts';
import { createReferences } from './reference.ts';
import { settingsInput } from './settings.ts';

/** What would happen: a campaign, an environment and an occurrence, with everything compiled that a row needs. */
export interface Plan {
  readonly campaign: Campaign;
  readonly environment: Environment;
  readonly occurrence: string;
  readonly columns: readonly string[];
  /** Hashes of all that goes into a message, except the list, whose hash is known once it has been read. */
  readonly inputs: readonly InputFile[];
  /** Found while the plan was made: unused columns, entities in an SMS. Never errors. */
  readonly warnings: readonly Diagnostic[];
  readonly stages: Stages;
  /** Knows the limits of every channel; null where there is nothing but SMS. */
  readonly check: CheckContent | null;
  /** Most recipients of one request; 1 where each has a text, or a contact, of its own. */
  readonly recipientsPerRequest: number;
  /** handbill's own id for somebody on a channel. */
  readonly referenceOf: (key: string, channel: Channel) => string;
  /** Makes the requests; `startMs` is the run's first start, which dates a relative validity. */
  expander(startMs: number): Expander;
}

/** What is done to a row, in order. */
export interface Stages {
  /** Null: everybody is meant. */
  readonly segment: Segment | null;
  readonly recipient: (row: Row) => Recipient | InvalidRow;
  readonly values: (values: readonly string[]) => TemplateValues;
  /** The campaign's own message, or one for each variant. */
  readonly messages: readonly Message[];
  readonly fallbacks: readonly FallbackMessage[];
}

/** One message that somebody may get. */
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

export interface PlanOptions {
  readonly environment: string;
  readonly occurrence: string;
}

/**
 * Makes a plan: reads the header of the list, resolves columns, compiles and checks the templates.
 * Opens no connection and reads no row. Throws `HandbillError` (exit 2) with everything that is wrong.
 */
export async function createPlan(campaign: Campaign, options: PlanOptions): Promise<Plan> {
  const environment = environmentOf(campaign, options.environment);
  checkOccurrence(options.occurrence);
  const list = await openList(campaign.recipients);
  await list.close();
  const check = await loadCheck(legsIn(campaign));
  const { stages, diagnostics, isPersonal } = await compile(campaign, list, check);
  const errors = [...diagnostics, ...checkPlaces(campaign, environment)].filter((d) => d.severity === 'error');
  if (stages === null || errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  const identity = { environment: environment.name, campaign: campaign.name, occurrence: options.occurrence };
  const referenceOf = createReferences(identity);
  return {
    campaign,
    environment,
    occurrence: options.occurrence,
    columns: list.columns,
    inputs: [...campaign.inputs.filter((i) => i.role !== 'project'), settingsInput(campaign, environment)],
    warnings: diagnostics,
    stages,
    check,
    recipientsPerRequest: isPersonal || campaign.recipients.kind === 'contact' ? 1 : campaign.send.recipientsPerRequest,
    referenceOf,
    expander: (startMs) => createExpander(campaign, environment, referenceOf, startMs),
  };
}

/** What makes a run the same run must be something that people can read and write again. */
function checkOccurrence(occurrence: string): void {
  if (/^[^\s\p{C}]([^\p{C}]{0,98}[^\s\p{C}])?$/u.test(occurrence)) return;
  const hint = 'Name it in 1 to 100 characters on one line, such as 2026-11-21 or spring-2.';
  throw refuse(
    problem('usage', `${JSON.stringify(occurrence.slice(0, 40))} cannot be the name of an occurrence.`, { hint }),
  );
}

function environmentOf(campaign: Campaign, name: string): Environment {
  const environment = campaign.project.environments.get(name);
  if (environment !== undefined) return environment;
  const known = [...campaign.project.environments.keys()];
  throw refuse(
    problem('unknown-environment', `There is no environment "${name}".`, {
      at: { file: campaign.project.file ?? 'handbill.yaml' },
      hint: didYouMean(name, known).hint ?? `Environments stand in handbill.yaml; known here: ${known.join(', ')}.`,
    }),
  );
}

function legsIn(campaign: Campaign): readonly Leg[] {
  return [campaign, ...campaign.variants.map(({ leg }) => leg), ...campaign.fallbacks];
}

/** What the environment puts somewhere must not meet what the campaign puts there. */
function checkPlaces(campaign: Campaign, { name, wire }: Environment): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const at = { file: campaign.file };
  for (const key of ['metaData', 'recipientMetaData'] as const) {
    if (campaign[key] === null || !Object.hasOwn(campaign[key], wire.referenceName)) continue;
    const message = `"${key}.${wire.referenceName}" is taken: handbill's own reference travels there (\`wire.referenceName\` of ${name}).`;
    found.push(problem('invalid-value', message, { at, hint: 'Use another name.' }));
  }
  for (const leg of legsIn(campaign)) {
    if (leg.content === null || campaign.recipients.kind !== 'contact') continue;
    if (!wire.content[leg.channel].startsWith('/recipients/')) continue;
    const message = `The environment ${name} puts the content of ${leg.channel} with each recipient, but contacts have no place for it.`;
    found.push(problem('invalid-value', message, { at, hint: 'Set `wire.content` to a place such as /body/content.' }));
  }
  return found;
}

interface Compiled {
  /** Null where an error stands in the way. */
  readonly stages: Stages | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly isPersonal: boolean;
}

/** Compiles everything that is done to a row; everything that is wrong with any of it comes back at once. */
async function compile(campaign: Campaign, list: List, check: CheckContent | null): Promise<Compiled> {
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

function kindOn(channel: Channel, own: AddressKind): AddressKind {
  if (own === 'contact') return own;
  return channel === 'email' ? 'email' : 'msisdn';
}

function checkFallbackAddress(fallback: Fallback, campaign: Campaign, list: List, diagnostics: Diagnostic[]): void {
  const { recipients, file } = campaign;
  const needed = kindOn(fallback.channel, recipients.kind);
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
  const kind = kindOn(fallback.channel, campaign.recipients.kind);
  const read = createAddressReader(kind, campaign.recipients.defaultCountry);
  return { column: columns.indexOf(fallback.to), name: fallback.to, kind, read };
}
