import { describe, expect, it, test } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { knownProvider } from './examples.ts';
import { requestOf } from './reading.ts';

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
