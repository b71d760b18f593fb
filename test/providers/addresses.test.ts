import { describe, expect, it, test } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { createAddressReader } from '../../src/providers/addresses.ts';
import { requestFor } from '../../src/providers/provider.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { addressKind, knownProvider } from './examples.ts';

const ADA = '+447700900123';
const BO = '+447700900124';
const OTHER = '447700900999';

const read = (body: { readonly json: JsonObject | readonly Json[] } | { readonly form: JsonObject }, request: string) =>
  createAddressReader({ channels: null, kind: null, address: null, url: null, body }, 'msisdn', 'e164')(request);

const LIST = { json: { recipients: { $each: 'recipients', $do: { msisdn: '{to}', text: '{text}' } } } };
const NESTED = { json: { msg: { $each: 'recipients', $do: { to: [{ number: '{to}' }], body: '{text}' } } } };
const FORM = { form: { To: '{to}', Body: '{text}', SmartEncoded: true, Tag: ['{reference}', 'handbill'] } };
const REPEATED = { form: { To: { $each: 'recipients', $do: '{to}' } } };
const JOINED = { json: { dst: { $join: 'recipients', with: '<', $do: '{to}' } } };
const SCHEME = { json: { to: '{channel}:{to}' } };
const BY_KEY = { json: { recipients: { '{to}': { text: '{text}' } } } };
const MERGED = { json: { $merge: ['{metaData}', { to: '{to}' }] } };

describe('addresses in the bytes of a request', () => {
  it.each<[string, Parameters<typeof read>[0], string, readonly string[]]>([
    ['one', LIST, `{"recipients":[{"msisdn":"${ADA}"}]}`, [ADA]],
    ['two', LIST, `{"recipients":[{"msisdn":"${ADA}","text":"Hi"},{"msisdn":"${BO}"}]}`, [ADA, BO]],
    ['an item without an address', LIST, `{"recipients":[{"msisdn":"${ADA}"},{"text":"Hi"}]}`, []],
    ['an item with an unknown key', LIST, `{"recipients":[{"msisdn":"${ADA}"},{"to":"${BO}"}]}`, []],
    ['an address and an unknown key', LIST, `{"recipients":[{"msisdn":"${ADA}","cc":"${BO}"}]}`, []],
    ['an unknown list beside it', LIST, `{"recipients":[{"msisdn":"${ADA}"}],"cc":["${BO}"]}`, []],
    ['an item that is no mapping', LIST, `{"recipients":[{"msisdn":"${ADA}"},"${BO}"]}`, []],
    ['a list in the place of an address', LIST, `{"recipients":[{"msisdn":["${ADA}","${BO}"]}]}`, []],
    ['a number without its plus sign', LIST, `{"recipients":[{"msisdn":"447700900123"}]}`, []],
    ['no recipients', LIST, '{"recipients":[]}', []],
    ['no JSON', LIST, `recipients=${ADA}`, []],
    ['a list of one inside an item', NESTED, `{"msg":[{"to":[{"number":"${ADA}"}],"body":"Hi"}]}`, [ADA]],
    ['more in it than in the file', NESTED, `{"msg":[{"to":[{"number":"${ADA}"},{"number":"${BO}"}]}]}`, []],
    ['nothing in it', NESTED, `{"msg":[{"to":[{"number":"${ADA}"}]},{"to":[]}]}`, []],
    ['a form', FORM, 'To=%2B447700900123&Body=Hi&SmartEncoded=true&Tag=r&Tag=handbill', [ADA]],
    ['a field again', FORM, 'To=%2B447700900123&To=%2B447700900124', []],
    ['an unknown field', FORM, 'To=%2B447700900123&Cc=%2B447700900124', []],
    ['a field in other letters', FORM, 'To=%2B447700900123&to=%2B447700900124', []],
    ['another value than that of the file', FORM, 'To=%2B447700900123&SmartEncoded=%2B447700900124', []],
    ['more in a list than in the file', FORM, 'To=%2B447700900123&Tag=r&Tag=handbill&Tag=%2B447700900124', []],
    ['a plus sign that became a space', FORM, 'To=+447700900123', []],
    ['a repeated field', REPEATED, 'To=%2B447700900123&To=%2B447700900124', [ADA, BO]],
    ['a joined text', JOINED, `{"dst":"${ADA}<${BO}"}`, [ADA, BO]],
    ['a joined text with another word in it', JOINED, `{"dst":"${ADA}<all"}`, []],
    ['text before it', SCHEME, `{"to":"whatsapp:${ADA}"}`, [ADA]],
    ['not the text before it', SCHEME, `{"to":"${ADA}"}`, []],
    ['an address as a key', BY_KEY, `{"recipients":{"${ADA}":{"text":"Hi"}}}`, [ADA]],
    ['keys that others bring', MERGED, `{"own":"x","to":"${ADA}"}`, [ADA]],
  ])('%s', (_, body, request, expected) => {
    expect(read(body, request)).toEqual(expected);
  });
});

/** Bodies with one more address somewhere, in a key or an item that no file has. */
function* tampered(value: Json, put: (changed: Json) => Json): Generator<Json> {
  if (Array.isArray(value)) {
    for (const extra of [OTHER, { to: OTHER }]) yield put([...(value as Json[]), extra]);
    for (const [i, item] of (value as Json[]).entries()) {
      yield* tampered(item, (changed) => put((value as Json[]).with(i, changed)));
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const extra of [OTHER, [OTHER], { to: OTHER }]) yield put({ ...value, 'x-to': extra });
    for (const [key, item] of Object.entries(value)) {
      // The values of a person, under names that the campaign chooses.
      if (FREE.has(key)) continue;
      yield* tampered(item, (changed) => put({ ...value, [key]: changed }));
    }
  }
}

const FREE = new Set(['personalisation', 'TemplateModel', 'parameters', 'Metadata']);

const EXAMPLES = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider)
  .flatMap(({ name, provider, examples }) => examples.requests.map((example) => ({ name, provider, example })));

test.each(EXAMPLES)('$name, $example.about: no further address is overlooked', ({ provider, example }) => {
  const { channel, template } = example.message;
  const address = addressKind(channel);
  const file = requestFor(provider, channel, template === undefined ? 'text' : 'template', address);
  if (file === null) throw new Error('There is a request for it.');
  const readAddresses = createAddressReader(file, address, provider.msisdn);
  expect(readAddresses(example.body)).toEqual(example.recipients.map(({ to }) => to));
  const bodies =
    'form' in file.body
      ? ['x-to', 'To', 'to'].map((name) => `${example.body}&${name}=${OTHER}`)
      : [...tampered(JSON.parse(example.body) as Json, (changed) => changed)].map((one) => JSON.stringify(one));
  for (const body of bodies) {
    const found = readAddresses(body);
    // A further recipient of a list is one of those read.
    expect(found.length === 0 || found.some((to) => to.includes(OTHER)), body).toBe(true);
  }
});
