import { describe, expect, it, test } from 'vitest';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { readEnvironments, readWire } from '../../src/campaign/environments.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import type { ProjectFile, WireFile } from '../../src/campaign/written.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import { CHANNELS } from '../../src/content/channels.ts';
import type { Diagnostic } from '../../src/errors.ts';
import type { Wire } from '../../src/model.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { brief, check } from './helper.ts';

/** handbill.yaml with these settings; the first of them is in line 5. */
function project(wire: string): string {
  const lines = wire.split('\n').map((line) => `      ${line}\n`);
  return `environments:\n  live:\n    baseUrl: https://api.example.com\n    wire:\n${lines.join('')}    apiKey: { env: KEY }\n`;
}

interface Read {
  readonly wire: Wire | undefined;
  /** With the words of `wire` over its own. */
  readonly provider: Provider | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

const PROVIDER = builtIn(DEFAULT_PROVIDER).provider;

/** What the schema and the checks behind it say. */
function read(wire: string): Read {
  const text = project(wire);
  const { value, diagnostics } = check('project', text);
  const { yaml } = readYaml(Buffer.from(text), 'file.yaml');
  const found = readEnvironments(value as ProjectFile, yaml, '/', new Map());
  const live = found.environments.get('live');
  return { wire: live?.wire, provider: live?.provider, diagnostics: [...diagnostics, ...found.diagnostics] };
}

describe('what is written', () => {
  const CASES: readonly [yaml: string, is: Partial<Wire>][] = [
    ['tooLargeStatuses: []', { tooLargeStatuses: [] }],
    ['tooLargeStatuses: [413, 422]', { tooLargeStatuses: [413, 422] }],
    [
      'unsupportedChannel: { statuses: [404] }',
      { unsupportedChannel: { ...DEFAULT_WIRE.unsupportedChannel, statuses: [404] } },
    ],
    [
      'unsupportedChannel: { codes: ["1300"] }',
      { unsupportedChannel: { ...DEFAULT_WIRE.unsupportedChannel, codes: ['1300'] } },
    ],
    [
      'unsupportedChannel: { codeAt: [/why] }',
      { unsupportedChannel: { ...DEFAULT_WIRE.unsupportedChannel, codeAt: ['/why'] } },
    ],
  ];
  test.each(CASES)('%s', (yaml, is) => {
    const { wire, provider, diagnostics } = read(yaml);
    expect(diagnostics).toEqual([]);
    expect(wire).toEqual({ ...DEFAULT_WIRE, ...is });
    expect(provider).toEqual(PROVIDER);
  });

  const WORDS: readonly [yaml: string, is: Partial<Provider>][] = [
    ['channels: { email: Mail }', { channels: { ...PROVIDER.channels, email: 'Mail' } }],
    ['characterSets: { gsm: PLAIN }', { characterSets: { ...PROVIDER.characterSets, gsm: 'PLAIN' } }],
    ['messageTypes: { transactional: TRANS }', { messageTypes: { transactional: 'TRANS' } }],
    ['msisdn: digits', { msisdn: 'digits' }],
    ['msisdn: "00"', { msisdn: '00' }],
  ];
  test.each(WORDS)('words of the provider: %s', (yaml, is) => {
    const { wire, provider, diagnostics } = read(yaml);
    expect(diagnostics).toEqual([]);
    expect(wire).toEqual(DEFAULT_WIRE);
    expect(provider).toEqual({ ...PROVIDER, ...is });
  });

  const RESPONSES: readonly [yaml: string, is: Partial<Wire['response']>][] = [
    ['recipients: [/people]', { recipients: ['/people'] }],
    ['refusedRecipients: [/no]', { refusedRecipients: ['/no'] }],
    ['recipientAddress: [/who]', { recipientAddress: ['/who'] }],
    ['recipientId: [/what]', { recipientId: ['/what'] }],
    ['recipientFailed: [/fault]', { recipientFailed: ['/fault'] }],
    ['recipientError: [/why]', { recipientError: ['/why'] }],
    [
      'recipientStatus: { at: [/state] }',
      { recipientStatus: { ...DEFAULT_WIRE.response.recipientStatus, at: ['/state'] } },
    ],
    [
      'recipientStatus: { refused: [] }',
      { recipientStatus: { ...DEFAULT_WIRE.response.recipientStatus, refused: [] } },
    ],
    ['messageId: [/id]', { messageId: ['/id'], messageIdRequired: true }],
    [
      'messageId: [/id, /messages/0/ref]',
      { messageId: ['/id', '/messages/0/ref'], messageIdRequired: true, recipientId: ['/ref'] },
    ],
    [
      'failed: [/messages/0/fault]',
      { failed: ['/messages/0/fault'], recipientFailed: ['/fault', ...DEFAULT_WIRE.response.recipientFailed] },
    ],
    [
      'error: [/messages/0/why/text]',
      { error: ['/messages/0/why/text'], recipientError: ['/why/text', ...DEFAULT_WIRE.response.recipientError] },
    ],
  ];
  test.each(RESPONSES)('response: %s', (yaml, is) => {
    const { wire, diagnostics } = read(`response: { ${yaml} }`);
    expect(diagnostics).toEqual([]);
    expect(wire?.response).toEqual({ ...DEFAULT_WIRE.response, ...is });
  });

  it('is the default where nothing is', () => {
    expect(read('{}')).toEqual({ wire: DEFAULT_WIRE, provider: PROVIDER, diagnostics: [] });
    expect(readWire({})).toEqual(DEFAULT_WIRE);
  });

  it('names an entry in its own lists', () => {
    const written: WireFile = { response: { recipients: ['/people'], messageId: ['/people/0/x', '/messages/0/y'] } };
    expect(readWire(written).response.recipientId).toEqual(['/x']);
  });
});

describe('what a schema refuses', () => {
  test.each([
    ['msisdn: plus', 'invalid-value 5:15'],
    ['msisdn: 00', 'unquoted-number 5:15'],
    ['channels: { fax: FAX }', 'unknown-key 5:19'],
    ['referenceName: ref', 'unknown-key 5:7'],
    ['contentNames: { html: body }', 'unknown-key 5:7'],
    ['messageTypes: { a: "x\\ny" }', 'invalid-value 5:26'],
    ['tooLargeStatuses: [500]', 'invalid-value 5:26'],
    ['unsupportedChannel: { statuses: [200] }', 'invalid-value 5:40'],
    ['unsupportedChannel: { codeAt: [code] }', 'invalid-value 5:38'],
    ['unsupportedChannel: { codes: [1300] }', 'wrong-type 5:37'],
    ['response: { recipients: [] }', 'invalid-value 5:31'],
    ['response: { recipientStatus: { at: [status] } }', 'invalid-value 5:43'],
    ['response: { recipientStatus: { words: [x] } }', 'unknown-key 5:38'],
    ['response: { messageIdRequired: true }', 'unknown-key 5:19'],
  ])('%s', (yaml, expected) => {
    expect(brief(read(yaml).diagnostics)).toEqual([expected]);
  });
});

it('names the channels where one is misspelt, and keeps the others', () => {
  const { provider, diagnostics } = read('channels: { smss: Text, email: Mail, sms: Short }');
  expect(brief(diagnostics)).toEqual(['unknown-key 5:19']);
  expect(diagnostics[0]?.hint).toBe('Did you mean "sms"?');
  expect(provider?.channels).toEqual({ ...PROVIDER.channels, email: 'Mail', sms: 'Short' });
  expect(read('channels: { fax: Fax }').diagnostics[0]?.hint).toBe(`Known keys: ${CHANNELS.join(', ')}.`);
});

describe('what a schema cannot judge', () => {
  test.each([
    ['unsupportedChannel: { statuses: [404, 403] }', 'invalid-value 5:45', /403/],
    ['tooLargeStatuses: [413, 429]', 'invalid-value 5:31', /429/],
    ['retryStatuses: [404]\nunsupportedChannel: { statuses: [404] }', 'invalid-value 5:23', /try again/],
  ])('%s', (yaml, expected, message) => {
    const { diagnostics } = read(yaml);
    expect(brief(diagnostics)).toEqual([expected]);
    expect(diagnostics[0]?.message).toMatch(message);
    expect(diagnostics[0]?.hint).toMatch(/^[A-Z].*\.$/);
  });

  it('says everything at once', () => {
    const { diagnostics } = read('tooLargeStatuses: [429]\nunsupportedChannel: { statuses: [401] }');
    expect(brief(diagnostics).toSorted()).toEqual(['invalid-value 5:26', 'invalid-value 6:40']);
  });
});
