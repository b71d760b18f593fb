import { type Diagnostic, problem, refuse } from '../errors.ts';
import { ADDRESS_KINDS, type AddressKind, type Campaign, type Row, type Step } from '../model.ts';
import { ADDRESS_WORDS, createAddressReader } from '../recipients/address.ts';
import type { AddressReader } from '../recipients/phone.ts';
import { openList } from '../recipients/read.ts';
import { show } from '../recipients/show.ts';
import { isNamed } from '../util/address-form.ts';
import { compared } from '../util/cell.ts';
import { didYouMean } from '../util/suggest.ts';
import { addressKindOf, messagesIn } from './compile.ts';
import { decisions } from './decide.ts';
import type { Plan } from './plan.ts';

/* A test is another campaign: one row of the list, once for each tester, with the tester's address. */

type TestRow = { readonly line: number; readonly values: readonly string[] };

/** The row of a test; without a line and a key, the first one that would be sent to. */
export type WhichRow = { readonly line?: number | undefined; readonly key?: string | undefined };

export interface TestMessage {
  /** The end of the name of its occurrence; empty for the message of a campaign that has no other. */
  readonly part: string;
  /** For people: `sms`, `variant a (sms)`. */
  readonly name: string;
  readonly to: readonly string[];
  /** Those among them that handbill.yaml does not name. */
  readonly strangers: readonly string[];
  readonly campaign: Campaign;
}

interface Testers {
  readonly addresses: readonly string[];
  /** They were named for this test: each must be able to get some message. Those of handbill.yaml are for all channels. */
  readonly named: boolean;
  /** The message of one variant alone, and the fallbacks that only this variant has. */
  readonly variant: string | null;
}

/** @throws HandbillError (exit 2): there is no such row, or none would be sent to */
export async function testRow(plan: Plan, { line, key }: WhichRow): Promise<TestRow> {
  const { file } = plan.campaign.recipients;
  const which: WhichRow = line === undefined && key === undefined ? { line: await firstSentTo(plan) } : { line, key };
  const isMeant = (row: Row): boolean =>
    (which.line === undefined || row.line === which.line) &&
    (which.key === undefined || isNamed(compared(which.key), plan.compiled.recipient(row)));
  // As the file has it: cells that a column's type has read already would be read a second time, as something else.
  const list = await openList(plan.campaign.recipients);
  try {
    for await (const rows of list.rows()) {
      for (const row of rows) if (isMeant(row)) return { line: row.line, values: row.values ?? [] };
    }
  } finally {
    await list.close();
  }
  throw noSuchRow(file, which);
}

async function firstSentTo(plan: Plan): Promise<number> {
  for await (const batch of decisions(plan, { skipsInvalid: true })) {
    for (const { decision, line } of batch) if (decision === 'send') return line;
  }
  const hint = '`handbill preview` says why of each; --line N takes the data of any row.';
  const at = { file: plan.campaign.recipients.file };
  throw refuse(problem('usage', 'No row of the list would be sent to, so that a test has no data.', { at, hint }));
}

export function noSuchRow(file: string, { line, key }: WhichRow): Error {
  const which = line === undefined ? `with the key ${show(key ?? '')}` : `that begins at line ${line}`;
  return refuse(problem('usage', `The list has no row ${which}.`, { at: { file } }));
}

/** One for each variant and fallback. Throws HandbillError (exit 2): a tester gets none, or the variant is unknown. */
export function testMessages({ campaign, columns }: Plan, row: TestRow, testers: Testers): readonly TestMessage[] {
  const { defaultCountry } = campaign.recipients;
  const readers = Object.fromEntries(ADDRESS_KINDS.map((kind) => [kind, readerOf(kind, defaultCountry)])) as Record<
    AddressKind,
    AddressReader
  >;
  const kindOf = (step: OwnStep): AddressKind => addressKindOf(campaign, step);
  const fitting = (kind: AddressKind, addresses = testers.addresses): readonly string[] => [
    ...new Set(addresses.flatMap((text) => addressIn(readers[kind], text))),
  ];
  const own = ownSteps(campaign, testers.variant);
  refuseUnfit(
    testers,
    own.map(({ step }) => kindOf(step)),
    readers,
  );
  return own.flatMap(({ part, name, step }): TestMessage[] => {
    const kind = kindOf(step);
    const to = fitting(kind);
    if (to.length === 0) return [];
    // Every column with an address holds one of a tester: templates and variables may name any of them.
    const replaced = addressColumns(campaign).map(([column, its]) => [columns.indexOf(compared(column)), its] as const);
    const values = (tester: string) =>
      row.values.map((value, at) => {
        const its = replaced.find(([column]) => column === at)?.[1];
        if (its === undefined) return value;
        return its === kind ? tester : (fitting(its)[0] ?? tester);
      });
    const rows = to.map((tester) => ({ line: row.line, values: values(tester) }));
    const column = step.to ?? campaign.recipients.to;
    const known = fitting(kind, campaign.project.testers);
    const strangers = to.filter((tester) => !known.includes(tester));
    const list = { kind, to: column, inline: { columns, rows } };
    return [{ part, name, to, strangers, campaign: onlyFor(campaign, step, list) }];
  });
}

type OwnStep = Step & { readonly to?: string | null };

type Named = { readonly part: string; readonly name: string; readonly step: OwnStep };

function ownSteps(campaign: Campaign, variant: string | null): readonly Named[] {
  const firsts = messagesIn(campaign);
  const chosen = variant === null ? firsts : firsts.filter(({ name }) => name === variant);
  if (variant !== null && chosen.length === 0) {
    const names = campaign.variants.map(({ name }) => name);
    const hint =
      didYouMean(variant, names).hint ?? (names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`);
    throw refuse(problem('usage', `The campaign has no variant "${variant}".`, { at: { file: campaign.file }, hint }));
  }
  const own = chosen.map(({ name, step }) =>
    name === null
      ? { part: '', name: campaign.channel, step: withoutAddress(step) }
      : { part: `-variant-${name}`, name: `variant ${name} (${step.channel})`, step },
  );
  const later = chosen.flatMap(({ name, fallbacks }) =>
    fallbacks.flatMap((step): readonly Named[] => {
      const { channel } = step;
      if (name !== null && !campaign.fallbacks.includes(step))
        return [{ part: `-fallback-${channel}-${name}`, name: `fallback of variant ${name} (${channel})`, step }];
      return variant === null ? [{ part: `-fallback-${channel}`, name: `fallback (${channel})`, step }] : [];
    }),
  );
  // Variants may share the fallbacks of the campaign.
  return [...own, ...new Map(later.map((one) => [one.part, one])).values()];
}

function withoutAddress(step: Step): Step {
  const { channel, from, locale, characterSet, characterSetWritten, transliterate } = step;
  const { template, variables, content, places } = step;
  return {
    ...{ channel, from, locale, characterSet, characterSetWritten, transliterate },
    ...{ template, variables, content, places },
  };
}

function addressColumns(campaign: Campaign): readonly (readonly [column: string, kind: AddressKind])[] {
  const others = campaign.fallbacks.flatMap((step) =>
    step.to === null ? [] : [[step.to, addressKindOf(campaign, step)] as const],
  );
  return [[campaign.recipients.to, campaign.recipients.kind], ...others];
}

function onlyFor(
  campaign: Campaign,
  step: OwnStep,
  list: Pick<Campaign['recipients'], 'kind' | 'to' | 'inline'>,
): Campaign {
  return {
    ...campaign,
    ...withoutAddress(step),
    variants: [],
    fallbacks: [],
    split: { ...campaign.split, holdout: 0, test: null, winner: null, decides: null },
    recipients: { ...campaign.recipients, ...list, ...OF_TESTERS },
    send: { ...campaign.send, notAfterMs: null, window: null, canary: null },
    schedule: null,
    exclude: [],
    frequency: [],
    after: null,
  };
}

/** Testers are identified by their addresses, and sent to whatever the list would refuse. */
const OF_TESTERS = {
  key: [],
  duplicates: 'skip',
  alsoInvalid: [],
  timeZone: null,
  where: null,
  each: null,
  display: null,
  onInvalid: 'refuse',
} as const;

/** Anything can be the id of a contact, but numbers with + and email addresses belong to other channels. */
function readerOf(kind: AddressKind, defaultCountry: string | null): AddressReader {
  const read = createAddressReader(kind, defaultCountry);
  if (kind !== 'contact') return read;
  return (text) => (/^\s*\+|@/.test(text) ? { problem: 'is that of another channel' } : read(text));
}

function addressIn(read: AddressReader, text: string): readonly string[] {
  const address = read(text);
  return 'problem' in address ? [] : [address.to];
}

function refuseUnfit(
  { addresses, named }: Testers,
  kinds: readonly AddressKind[],
  readers: Readonly<Record<AddressKind, AddressReader>>,
): void {
  const found = addresses.map((text) => kinds.some((kind) => addressIn(readers[kind], text).length > 0));
  const [kind = 'msisdn'] = kinds;
  const unfit = addresses.flatMap((text, at): Diagnostic[] => {
    const read = readers[kind](text);
    if (found[at] === true || !('problem' in read)) return [];
    const message = `The ${ADDRESS_WORDS[kind].one} ${show(text)} of a tester ${read.problem}.`;
    return [problem('invalid-address', message, { hint: read.hint })];
  });
  if (named && unfit.length > 0) throw refuse(...unfit);
  if (found.includes(true)) return;
  const many = [...new Set(kinds)].map((each) => ADDRESS_WORDS[each].many).join(' or ');
  const message = `There is no tester for this campaign, which is sent to ${many}.`;
  const hint = 'Name one: --test-to +447700900123. Those under `testers` in handbill.yaml are taken without a name.';
  throw refuse(problem('usage', message, { hint }));
}
