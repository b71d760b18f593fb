import { describe, expect, it, test } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { unsubscribeHeaders } from '../../src/content/email-content.ts';
import { isGsm } from '../../src/content/sms-parts.ts';
import { authorizerOf, headersOf } from '../../src/providers/auth.ts';
import { compileRequest } from '../../src/providers/request.ts';
import { addressKind, type Known, knownProvider, type RequestExample, withoutHeaders } from './examples.ts';

const KNOWN = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider);

test('there are fifteen providers beside the default', () => {
  expect(KNOWN.length).toBe(15);
});

describe.each(KNOWN)('$name', (known) => {
  it.each(known.examples.requests)('posts $about', async (example) => {
    const { form, body, headers } = await requestOf(known, example);
    expect({ url: form.url, body }).toEqual({ url: example.url, body: example.body });
    expect(headers).toMatchObject(example.headers ?? {});
  });

  it.each(known.examples.requests)('reads the addresses of $about back from its bytes', async (example) => {
    const { form, body } = await requestOf(known, example);
    expect(form.addressesIn(body)).toEqual(example.recipients.map(({ to }) => to));
  });
});

async function requestOf({ provider, examples }: Known, { message, recipients }: RequestExample) {
  const { now, callback = null, vars = {}, secrets = {} } = examples;
  const nowMs = Date.parse(now ?? '2026-11-27T10:00:00Z');
  const { channel, text, template, variables, content, validForSeconds, characterSet, messageType } = message;
  const form = compileRequest(
    provider,
    {
      campaign: 'example',
      accountReference: null,
      messageType: messageType ?? null,
      metaData: null,
      channel,
      address: addressKind(channel),
      characterSet,
      from: message.from ?? null,
      template: template?.id ?? null,
      validUntilMs: validForSeconds === undefined ? null : nowMs + validForSeconds * 1000,
      callback,
      vars,
      secrets,
      baseUrl: null,
    },
    () => nowMs,
  );
  if (form === null) throw new Error('There is no form for it.');
  const body = form.write(
    recipients.map(({ to, reference, variables: own }) => ({
      to,
      reference,
      text: text ?? null,
      variables: own ?? variables ?? null,
      content: content === undefined ? null : withoutHeaders(content),
      metaData: null,
      headers: content?.['unsubscribe'] === undefined ? null : unsubscribeHeaders(content),
      isGsm: text === undefined ? null : isGsm(text),
    })),
  );
  const authorization = await authorizerOf(provider, vars, secrets, () => nowMs)?.();
  const named = { ...headersOf(provider, vars, secrets), ...(authorization === undefined ? {} : { authorization }) };
  const headers = Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));
  return { form, body, headers };
}
