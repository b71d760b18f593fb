import { Ajv2020 } from 'ajv/dist/2020.js';
import { createAddressReader, fieldsOf } from '../providers/addresses.ts';
import type { Provider, RequestFile } from '../providers/provider.ts';
import type { Word } from '../providers/rules.ts';
import { piecesOf } from '../providers/text.ts';
import { escapePattern } from '../util/escape.ts';
import { isList, isMapping, type Json, type JsonObject, parseJson } from '../util/json.ts';
import { bareNumber } from './endings.ts';
import { toFault } from './form.ts';

/** An answer of the API, as `NAME.examples.yaml` has it. */
export interface AnswerExample {
  /** Default: one. */
  readonly recipients?: readonly string[];
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
  /** How it is read; absent in answers that were captured. */
  readonly then?: Word | 'split' | readonly Word[];
  readonly messageId?: string | null | readonly (string | null)[];
}

/** The part of `NAME.examples.yaml` that the sandbox reads. */
export interface ProviderExamples {
  /** JSON Schema of the bodies that the API takes, from its published description. */
  readonly accepts?: JsonObject;
  readonly requests?: readonly {
    readonly recipients: readonly { readonly to: string; readonly reference: string }[];
  }[];
  readonly answers: readonly AnswerExample[];
}

/** `to` is in the form of the ledger. */
type ProviderRequest = {
  readonly to: readonly string[];
  readonly references: readonly string[];
  readonly form: RequestFile;
};

export type ProviderApi = ReturnType<typeof createProviderApi>;

/** @param captured - are given one after another, without regard to recipients; null: the examples answer */
export function createProviderApi(
  provider: Provider,
  examples: ProviderExamples,
  captured: readonly AnswerExample[] | null,
) {
  // A schema of the examples is checked by their test.
  const { accepts } = examples;
  const check = accepts === undefined ? null : new Ajv2020({ strict: true, allowUnionTypes: true }).compile(accepts);
  const forms = provider.requests.map((form) => {
    const has = form.channels ?? Object.keys(provider.channels);
    const kind = form.address ?? (has.length === 1 && has[0] === 'email' ? 'email' : 'msisdn');
    const url = (form.url ?? provider.url).replace(/^(?:https?:\/\/[^/]*|\{baseUrl\})/, '');
    const pieces = piecesOf(url) ?? [url];
    const pattern = pieces.map((piece) => (typeof piece === 'string' ? escapePattern(piece) : '[^/?]+')).join('');
    return {
      form,
      url,
      pattern: new RegExp(`^${pattern}$`),
      contentType: 'json' in form.body ? 'application/json' : 'application/x-www-form-urlencoded',
      addressesIn: createAddressReader(form, kind, provider.msisdn),
    };
  });
  const operations = [...new Set(forms.map(({ url }) => url))];
  const { auth } = provider;
  const proofs = auth !== null && 'header' in auth ? Object.keys(auth.header) : ['authorization'];
  // The headers that prove who sends.
  const credentials = auth === null ? [] : proofs.map((name) => name.toLowerCase());
  let played = 0;
  return {
    recipients: provider.limits.recipients,
    operations,
    /** @param url - path and query */
    read(
      url: string,
      headers: Readonly<Record<string, string | string[] | undefined>>,
      body: string,
    ): ProviderRequest | { readonly status: number; readonly detail: string } {
      const there = forms.filter(({ pattern }) => pattern.test(url));
      const [first] = there;
      if (first === undefined)
        return { status: 404, detail: `${provider.title} has POST ${operations.join(' and ')}.` };
      const missing = credentials.find((name) => headers[name] === undefined);
      if (missing !== undefined) return { status: 401, detail: `The header ${missing} is missing.` };
      const sent = String(headers['content-type']).split(';')[0]?.trim().toLowerCase();
      const typed = there.filter(({ contentType }) => contentType === sent);
      if (typed.length === 0) return { status: 415, detail: `The body must be ${first.contentType}.` };
      const document = 'json' in first.form.body ? parseJson(body) : fieldsOf(body);
      if (check?.(document) === false) {
        // Where several forms are possible, the fault that is deepest in the body is in the one that fits best.
        const faults = (check.errors ?? []).map(toFault);
        const [deepest] = faults.toSorted((one, other) => other.pointer.length - one.pointer.length);
        return {
          status: 400,
          detail: `${provider.title} does not take this body: ${deepest?.pointer} ${deepest?.detail}.`,
        };
      }
      for (const { form, addressesIn } of typed) {
        const to = addressesIn(body);
        if (to.length === 0) continue;
        // The references of handbill, in both spellings, from any place.
        const found = JSON.stringify(document).match(/(?<![\w-])(?:[\w-]{22}|[\da-z]{26})(?![\w-])/g);
        return { to, references: [...new Set(found)], form };
      }
      return { status: 400, detail: 'The body has no recipient.' };
    },
    /** The status of the example for an ending that is a status; null: answers are captured. */
    statusFor(ending: number): number | null {
      return captured === null ? exampleFor([wordBy(ending)], ending, examples.answers).status : null;
    },
    /** @param words - by recipient
     * @param status - of the examples that fit, one like this is taken */
    answer(words: readonly Word[], status: number, request: ProviderRequest, id: string) {
      if (captured !== null) {
        played += 1;
        return written(captured[(played - 1) % captured.length] ?? NO_ANSWER, null);
      }
      const known = words.length === 1 ? words : words.map((word) => (REFUSALS.has(word) ? 'refused' : word));
      const example = exampleFor(known, status, examples.answers);
      return written(example, (body) => filled(body, example, examples, known, request, id));
    },
  };
}

/** The verdict that a status leads to at any provider. 451: the person has opted out. */
export function wordBy(status = 200): Word {
  if (status < 400) return status < 300 ? 'accepted' : 'doubt';
  if (status === 429) return 'retry';
  if ([401, 402, 403, 407].includes(status)) return 'stop';
  if (status === 451) return 'opted-out';
  return status < 500 ? 'refused' : 'doubt';
}

const NO_ANSWER: AnswerExample = { status: 204 };
/** In a list, examples tell them from no other refusal. */
const REFUSALS: ReadonlySet<Word> = new Set(['opted-out', 'unsupported']);
/** Where the examples have no such answer. */
const PLAIN: Readonly<Record<Word, number>> = {
  accepted: 200,
  refused: 400,
  'opted-out': 400,
  unsupported: 400,
  retry: 429,
  stop: 401,
  doubt: 500,
};

/** The answer of which every word is one of an example; where several recipients have none, a refusal of them all. */
function exampleFor(words: readonly Word[], status: number, answers: readonly AnswerExample[]): AnswerExample {
  const several = answers.filter(({ recipients = [] }) => recipients.length > 1);
  const single = answers.filter((answer) => !several.includes(answer));
  const kindOf = (one: number): number => Math.floor(one / 100);
  const sameOf = (some: readonly AnswerExample[], word: Word | 'split'): AnswerExample | undefined => {
    const same = some.filter(({ then }) => then === word);
    const exact = same.find((one) => one.status === status);
    return exact ?? same.find((one) => kindOf(one.status) === kindOf(status)) ?? same[0];
  };
  const [word = 'accepted', ...others] = new Set(words);
  const setOf = (some: readonly Word[]): string => [...new Set(some)].toSorted().join();
  const mixed = several.find(({ then }) => isList(then) && setOf(then) === setOf(words));
  if (words.length > 1 && mixed !== undefined) return mixed;
  if (others.length > 0) return sameOf(several, 'split') ?? { status: PLAIN.refused };
  const instead = REFUSALS.has(word) ? 'refused' : word;
  return sameOf(single, word) ?? sameOf(single, instead) ?? { status: PLAIN[word] };
}

function written({ status, headers = {}, body, text }: AnswerExample, fill: ((text: string) => string) | null) {
  const said = text ?? (body === undefined ? '' : JSON.stringify(body));
  const type = body === undefined ? 'text/plain; charset=utf-8' : 'application/json';
  return { status, headers: { 'Content-Type': type, ...headers }, text: fill === null ? said : fill(said) };
}

/** An example with the addresses, references and ids of the request in place of those that it was written with. */
function filled(
  text: string,
  { recipients, then, messageId }: AnswerExample,
  { requests = [] }: ProviderExamples,
  words: readonly Word[],
  { to, references }: ProviderRequest,
  id: string,
): string {
  const count = recipients?.length ?? 1;
  const known = Array.from({ length: count }, (_, position) => {
    const people = requests.flatMap((request) => request.recipients.slice(position, position + 1));
    return {
      addresses: [...new Set([recipients?.[position] ?? [], people.map((one) => one.to)].flat().map(bareNumber))],
      references: new Set(people.map(({ reference }) => reference)),
      id: (isList(messageId) ? messageId[position] : messageId) ?? null,
      word: isList(then) ? then[position] : then,
    };
  });
  const put = (some: string, position: number, actual: number): string => {
    const one = known[position];
    if (one === undefined) return some;
    const reference = references.length === to.length ? references[actual] : undefined;
    let filledIn = some;
    for (const old of one.addresses) filledIn = filledIn.replaceAll(old, bareNumber(to[actual] ?? ''));
    if (reference !== undefined) for (const old of one.references) filledIn = filledIn.replaceAll(old, reference);
    if (one.id === null || one.references.has(one.id)) return filledIn;
    const own = isList(messageId) ? `${id}-${actual + 1}` : id;
    if (!/^\d+$/.test(one.id)) return filledIn.replaceAll(one.id, own);
    // `sbx-8f3a-12`: the same for an API whose ids are numbers.
    const [, start = '', ...counts] = own.split('-');
    const digits = [1 + (Number.parseInt(start, 16) % 1e6), ...counts.map((part) => part.padStart(4, '0'))];
    return filledIn.replaceAll(one.id, digits.join(''));
  };
  const ownerOf = (item: Json): number => {
    const inside = JSON.stringify(item);
    const owners = known.flatMap((_, position) => (put(inside, position, 0) === inside ? [] : [position]));
    return owners.length === 1 ? (owners[0] ?? -1) : -1;
  };
  const expand = (value: Json): Json => {
    if (isMapping(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner)]));
    if (!isList(value)) return value;
    const owners = value.map(ownerOf);
    if (owners.includes(-1) || new Set(owners).size !== count) return value.map(expand);
    return to.map((_, actual) => {
      const position = known.findIndex(({ word }) => word === words[actual]);
      const template = value[owners.indexOf(position)] ?? null;
      return JSON.parse(put(JSON.stringify(template), position, actual)) as Json;
    });
  };
  if (count === 1) return put(text, 0, 0);
  return put(JSON.stringify(expand(JSON.parse(text) as Json)), 0, 0);
}
