import { isMapping, type Json, type JsonObject } from '../util/json.ts';
import { numberIn } from './addresses.ts';
import type { NumberForm } from './provider.ts';
import { constant, type Entry, type Item, type Lookup, type Value } from './text.ts';

/** Parts of a message that many campaigns do not have. */
export type Lacking = 'content' | 'content.headers' | 'metaData.own';

/** What is the same for all messages of a channel step. */
export interface Facts {
  readonly campaign: string;
  readonly accountReference: string | null;
  /** The words of the provider; null: the campaign says nothing, or the provider has no word. */
  readonly channel: string | null;
  readonly messageType: string | null;
  readonly characterSet: string | null;
  /** Words for texts of GSM-7 and for others, where the provider does not choose by itself. */
  readonly characterSetByText: { readonly gsm: string; readonly unicode: string } | null;
  readonly from: string | null;
  /** The provider's word for `from`; null: it has none. */
  readonly sender: string | null;
  /** The template of the provider. */
  readonly template: string | null;
  /** What its addresses are. */
  readonly address: 'msisdn' | 'email' | 'contact';
  /** How numbers are written. */
  readonly msisdn: NumberForm;
  /** In ms since 1970. */
  readonly validUntilMs: number | null;
  readonly metaData: JsonObject | null;
  /** URL that reports are sent to, with the reference of the message in the place of `{reference}`. */
  readonly callback: string | null;
  /** What no message of the step has: it is left out of the request when that is compiled, and not for each row. */
  readonly lacks: ReadonlySet<Lacking>;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** For texts that are filled in before there is a message. */
export const NO_FACTS: Facts = {
  campaign: '',
  accountReference: null,
  channel: null,
  messageType: null,
  characterSet: null,
  characterSetByText: null,
  from: null,
  sender: null,
  template: null,
  address: 'msisdn',
  msisdn: 'e164',
  validUntilMs: null,
  metaData: null,
  callback: null,
  lacks: new Set(),
  vars: {},
  secrets: {},
};

type Getter = (facts: Facts, nowMs: () => number) => Value;

const same = (of: (facts: Facts) => Json | null): Getter => {
  return (facts) => constant(of(facts) ?? undefined);
};
const unlessLacking = (name: Lacking, of: (entry: Entry) => Json | null | undefined): Getter => {
  return ({ lacks }) => (lacks.has(name) ? constant(undefined) : { of: (entry) => of(entry) ?? undefined });
};
const each = (of: (entry: Entry, item: Item | undefined) => Json | null | undefined): Getter => {
  return () => ({ of: (entry, item) => of(entry, item) ?? undefined });
};
const left = (unitMs: number): Getter => {
  return ({ validUntilMs }, nowMs) =>
    validUntilMs === null
      ? constant(undefined)
      : { of: () => Math.max(1, Math.floor((validUntilMs - nowMs()) / unitMs)) };
};

const addressed = (address: Facts['address']): Value => {
  return address === 'msisdn' ? { of: ({ to }) => to, isPlain: true } : { of: ({ to }) => to };
};
const ofKind = (kind: Facts['address']): Getter => {
  return ({ address }) => (address === kind ? addressed(kind) : constant(undefined));
};

/** A template has variables, if only none. */
const ofTemplate = (of: (variables: JsonObject) => Json): Getter => {
  return ({ template }) => (template === null ? constant(undefined) : { of: ({ variables }) => of(variables ?? {}) });
};

/** Every name that a placeholder may have, beside those of `vars` and `secrets`. */
const VALUES: Readonly<Record<string, Getter>> = {
  to: ({ address }) => addressed(address),
  'to.msisdn': ofKind('msisdn'),
  'to.email': ofKind('email'),
  'to.number': each(({ to }) => Number(to)),
  reference: () => ({ of: ({ reference }) => reference ?? undefined }),
  text: each(({ text }) => text),
  variables: ofTemplate((variables) => variables),
  'variables.json': ofTemplate((variables) => JSON.stringify(variables)),
  'content.headers': unlessLacking('content.headers', ({ headers }) => headers),
  content: unlessLacking('content', ({ content }) => {
    return content === null || Object.keys(content).length === 0 ? null : content;
  }),
  'metaData.own': unlessLacking('metaData.own', ({ metaData }) => metaData),
  name: each((_entry, item) => item?.name),
  value: each((_entry, item) => item?.value),
  campaign: same(({ campaign }) => campaign),
  accountReference: same(({ accountReference }) => accountReference),
  channel: same(({ channel }) => channel),
  from: same(({ from, sender }) => sender ?? from),
  'from.msisdn': same(({ from, sender, msisdn }) => {
    const number = sender ?? from ?? '';
    // A short code has no plus sign, and is as it is.
    return /^\+\d+$/.test(number) ? numberIn(msisdn, number) : /^\d+$/.test(number) ? number : null;
  }),
  sender: same(({ sender }) => sender),
  messageType: same(({ messageType }) => messageType),
  'template.id': same(({ template }) => template),
  metaData: same(({ metaData }) => metaData),
  characterSet: ({ characterSet, characterSetByText: words }) =>
    words === null
      ? constant(characterSet ?? undefined)
      : { of: ({ isGsm }) => (isGsm === true ? words.gsm : words.unicode) },
  callback: ({ callback }) =>
    callback === null
      ? constant(undefined)
      : {
          // The reports of several recipients share a URL, which has the reference of none.
          of: ({ reference }) =>
            reference === null
              ? callback.replace(/[?&]handbill=\{reference\}/, '')
              : callback.replace('{reference}', reference),
        },
  'validity.ms': left(1),
  'validity.seconds': left(1000),
  'validity.minutes': left(60_000),
  'validity.hours': left(3_600_000),
  'validity.unix': same(({ validUntilMs }) => (validUntilMs === null ? null : Math.floor(validUntilMs / 1000))),
  'validity.instant': same(({ validUntilMs }) => (validUntilMs === null ? null : new Date(validUntilMs).toISOString())),
  /** With a numeric offset in the place of `Z`. */
  'validity.offset': same(({ validUntilMs }) => {
    return validUntilMs === null ? null : new Date(validUntilMs).toISOString().replace('Z', '+00:00');
  }),
};

export const VALUE_NAMES: readonly string[] = Object.keys(VALUES);

/** `content.subject`, `variables.body`: a value inside of what a message has. */
export const INSIDE = /^(content|variables)\.(.+)$/;

/** @param nowMs - for a validity that counts from the request */
export function createLookup(facts: Facts, nowMs: () => number): Lookup {
  return (name) => {
    const getter = VALUES[name];
    if (Object.hasOwn(VALUES, name) && getter !== undefined) return getter(facts, nowMs);
    const [kind = '', ...rest] = name.split('.');
    const key = rest.join('.');
    if (kind === 'var') return constant(facts.vars[key]);
    if (kind === 'secret') return constant(facts.secrets[key]);
    const inside = INSIDE.exec(name);
    if (inside === null) return null;
    const [, of, path = ''] = inside;
    if (path.startsWith('headers.')) return { of: ({ headers }) => headers?.[path.slice('headers.'.length)] };
    return { of: (entry) => valueIn(of === 'content' ? entry.content : entry.variables, path) };
  };
}

/** A key may hold dots, as `headers.List-Unsubscribe` does not. */
function valueIn(mapping: JsonObject | null, path: string): Json | undefined {
  let value: Json | undefined = mapping ?? undefined;
  for (const key of path.split('.')) value = isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

export function isKnownName(name: string): boolean {
  return Object.hasOwn(VALUES, name) || INSIDE.test(name);
}
