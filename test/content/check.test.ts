import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createAjv, SCHEMAS, validatorOf } from '../../src/campaign/validators.ts';
import { CHANNELS, checkContent } from '../../src/content/channels.ts';
import { describeContent } from '../../src/content/describe.ts';
import type { Channel, Json, JsonObject } from '../../src/model.ts';
import { valueAt } from '../../src/util/json.ts';
import { examples } from '../helpers/quick.ts';
import { anyContent } from './arbitrary-content.ts';
import { brief } from './check-table.ts';

/** A value for each key, as short as the schema allows. */
const KEYS: Readonly<Record<string, readonly [value: Json, channels: readonly Channel[]]>> = {
  header: [{ text: 'Hi' }, ['messaging-app']],
  footer: ['Bye', ['messaging-app']],
  buttons: [[{ text: 'Yes', reply: 'yes' }], ['rcs', 'messaging-app']],
  list: [{ button: 'Choose', sections: [{ rows: [{ id: 'a', title: 'A' }] }] }, ['messaging-app']],
  card: [{ title: 'A' }, ['rcs']],
  cards: [
    [{ title: 'A' }, { title: 'B' }],
    ['rcs', 'messaging-app'],
  ],
  cardWidth: ['small', ['rcs']],
  subject: ['Hi', ['email']],
  preheader: ['Hi', ['email']],
  html: ['<p>Hi</p>', ['email']],
  unsubscribe: [{ url: 'https://a.example/u' }, ['email']],
  language: ['en-GB', ['voice']],
  voice: ['Emma', ['voice']],
  repeat: [2, ['voice']],
};

describe('keys', () => {
  it('are all that the schema has', () => {
    const written = Object.keys(SCHEMAS.campaign().properties?.['content']?.properties ?? {});
    expect(Object.keys(KEYS).sort()).toEqual(written.filter((key) => key !== 'text').sort());
  });

  const cases = Object.entries(KEYS).flatMap(([key, [value, channels]]) =>
    CHANNELS.map((channel) => [key, channel, value, channels] as const),
  );
  test.each(cases)('%s on %s', (key, channel, value, channels) => {
    const strange = checkContent(channel, { [key]: value }, 'Hi').filter(
      ({ pointer, message }) => pointer === `/${key}` && message.startsWith('A message on '),
    );
    if (channels.includes(channel)) expect(brief(strange)).toEqual([]);
    else {
      expect(brief(strange)).toEqual([`content-invalid /${key}`]);
      expect(strange[0]?.message).toBe(`A message on ${channel} has no "${key}".`);
      for (const other of channels) expect(strange[0]?.hint).toContain(other);
    }
  });

  it('that no channel has are refused, also those of objects', () => {
    const content = JSON.parse('{"colour": "red", "__proto__": "x", "constructor": "y"}') as JsonObject;
    const problems = checkContent('rcs', content, 'Hi');
    expect(brief(problems)).toEqual([
      'content-invalid /colour',
      'content-invalid /__proto__',
      'content-invalid /constructor',
    ]);
    expect(problems[0]).not.toHaveProperty('hint');
  });
});

describe('only a text', () => {
  test.each(['sms', 'rcs', 'messaging-app', 'voice'] as const)('is a message on %s', (channel) => {
    expect(checkContent(channel, {}, 'Hi')).toEqual([]);
    expect(checkContent(channel, {}, null)).toEqual([]);
  });

  it('is not an email: it has no subject', () => {
    expect(brief(checkContent('email', {}, 'Hi'))).toContain('content-invalid /subject');
  });
});

describe('whatever the schema lets through', () => {
  const validate = validatorOf('campaign');
  const anyChannel = fc.constantFrom(...CHANNELS);
  const apart = ({ text, ...content }: Readonly<Record<string, Json>>) => ({ content, text });
  const textOf = (text: Json | undefined): string | null | undefined => (text === null ? null : text?.toString());

  it('is what the generator makes', () => {
    fc.assert(
      fc.property(anyContent(false), (content) => {
        validate({ name: 'hello', channel: 'rcs', content });
        expect((validate.errors ?? []).map(({ instancePath, message }) => [instancePath, message])).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('is judged without throwing or being changed, at places that exist, in sentences', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyChannel, anyContent(true), (channel, all) => {
        const { content, text } = apart(all);
        const before = JSON.stringify(content);
        const problems = checkContent(channel, content, textOf(text));
        for (const { code, severity, pointer, message, hint = '' } of problems) {
          seen.add(`${channel} ${code}`);
          // What is missing is pointed at where it would be: its parent is there.
          const parent = pointer.slice(0, pointer.lastIndexOf('/'));
          expect(valueAt(content, parent), `${message} ${pointer}`).toBeDefined();
          expect(severity).toBe(code === 'content-advice' ? 'warning' : 'error');
          expect(message).toMatch(/^[\p{Lu}"].*\.$/su);
          expect(message + hint).not.toMatch(/undefined|NaN|\[object/);
        }
        expect(checkContent(channel, content, textOf(text))).toEqual(problems);
        const lines = describeContent(channel, typeof text === 'string' ? text : null, content);
        expect(lines.join(' ')).not.toMatch(/\n|undefined|NaN|\[object/);
        expect(JSON.stringify(content)).toBe(before);
      }),
      { numRuns: examples(500) },
    );
    for (const channel of CHANNELS) expect(seen).toContain(`${channel} content-invalid`);
    for (const channel of ['rcs', 'messaging-app']) expect(seen).toContain(`${channel} content-limit`);
  });

  it('has fewer problems, never other ones, while texts are not known', () => {
    const hide = (value: Json, path: string): Json => {
      // What a choice was made from is known always.
      if (typeof value === 'string') return /(?:height|cardWidth)$/.test(path) ? value : null;
      if (value === null || typeof value !== 'object') return value;
      if (Array.isArray(value)) return value.map((item: Json) => hide(item, path));
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner, key)]));
    };
    fc.assert(
      fc.property(fc.constantFrom('rcs', 'messaging-app'), anyContent(false), (channel, all) => {
        const { content, text } = apart(all);
        const known = new Set(brief(checkContent(channel, content, textOf(text))));
        const hidden = checkContent(channel, hide(content, '') as JsonObject, text === undefined ? undefined : null);
        expect(brief(hidden).filter((one) => !known.has(one) && !one.startsWith('content-advice'))).toEqual([]);
      }),
      { numRuns: examples(500) },
    );
  });
});

test('shapes are the schema’s: a value that is not a text, list or mapping is refused there', () => {
  const validate = createAjv().compile(SCHEMAS.campaign());
  for (const content of [
    { buttons: [] },
    { buttons: [{ reply: 'yes' }] },
    { buttons: [{ text: 'Yes', reply: 1 }] },
    { buttons: [{ text: 'Yes', shareLocation: false }] },
    { buttons: [{ text: 'Yes', says: 'yes' }] },
    { list: { button: 'Choose' } },
    { list: { button: 'Choose', sections: [{ rows: [] }] } },
    { card: { media: {} } },
    { cards: [{ media: { url: 'https://a.example', height: 'huge' } }] },
    { cards: [{ colour: 'red' }] },
    { header: 'https://a.example' },
    { repeat: 6 },
  ]) {
    expect(validate({ name: 'hello', content }), JSON.stringify(content)).toBe(false);
  }
});
