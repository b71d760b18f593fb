import type { Channel } from '../content/channels.ts';
import { createAddressReader, numberIn } from './addresses.ts';
import { compileForm, compileJson, type WriteBody } from './body.ts';
import { type Provider, requestFor } from './provider.ts';
import { fillUrl } from './url.ts';
import { createLookup, type Facts } from './values.ts';

/** How the messages of a channel step are posted. */
export type RequestForm = Readonly<NonNullable<ReturnType<typeof compileRequest>>>;

/** What a request is made of: `Facts`, and what chooses its form. */
export interface FormFacts
  extends Omit<Facts, 'channel' | 'msisdn' | 'sender' | 'characterSet' | 'characterSetByText' | 'messageType'> {
  readonly channel: Channel;
  /** Undefined: the campaign does not say. */
  readonly characterSet: keyof Provider['characterSets'] | undefined;
  readonly messageType: string | null;
  readonly baseUrl: string | null;
}

/**
 * Compiles the request of a channel step.
 * @param nowMs - for a validity that counts from the request
 * @returns null where the provider has none for the channel, the kind of content, or the kind of address
 */
export function compileRequest(provider: Provider, facts: FormFacts, nowMs: () => number) {
  const { channel, address, template, characterSet, messageType, vars, secrets, baseUrl } = facts;
  const { msisdn } = provider;
  const request = requestFor(provider, channel, template === null ? 'text' : 'template', address);
  if (request === null) return null;
  const sender = senderOf(provider, facts.from);
  const lookup = createLookup(
    {
      ...facts,
      msisdn,
      channel: provider.channels[channel] ?? null,
      sender,
      messageType: messageType === null ? null : (wordIn(provider.messageTypes, messageType) ?? messageType),
      ...characterSetOf(provider, characterSet),
    },
    nowMs,
  );
  const { body } = request;
  const url = fillUrl(request.url ?? provider.url, vars, baseUrl, secrets, sender === null ? {} : { sender });
  const { pathname, search } = new URL(url);
  const write: WriteBody = 'json' in body ? compileJson(body.json, lookup) : compileForm(body.form, lookup);
  return {
    url,
    /** With the query. */
    path: pathname + search,
    contentType: 'json' in body ? 'application/json' : 'application/x-www-form-urlencoded',
    /** Its validity counts from the request: a later one is another body. */
    countsDown: facts.validUntilMs !== null && COUNTS_DOWN.test(JSON.stringify(body)),
    /** The body, for recipients who get the same message. Addresses are in the form of the ledger. */
    write:
      address === 'msisdn' && msisdn !== 'e164'
        ? (entries: Parameters<WriteBody>[0]) =>
            write(entries.map((entry) => ({ ...entry, to: numberIn(msisdn, entry.to) })))
        : write,
    /** The addresses in a body, in the form of the ledger; empty where it cannot be understood. */
    addressesIn: createAddressReader(request, address, msisdn),
  };
}

/** The provider's word for the `from` of a campaign; null: it has none. */
export function senderOf({ senders }: Pick<Provider, 'senders'>, from: string | null): string | null {
  return from === null ? null : (wordIn(senders, from) ?? null);
}

function wordIn(words: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined;
}

const COUNTS_DOWN = /[{|]validity\.(?:ms|seconds|minutes|hours)[|}]/;

function characterSetOf(
  { characterSets }: Provider,
  written: FormFacts['characterSet'],
): Pick<Facts, 'characterSet' | 'characterSetByText'> {
  const { auto, gsm, unicode } = characterSets;
  const byText = gsm === null || unicode === null || auto !== null ? null : { gsm, unicode };
  if (byText !== null && (written ?? 'auto') === 'auto') return { characterSet: null, characterSetByText: byText };
  return { characterSet: written === undefined ? null : characterSets[written], characterSetByText: null };
}
