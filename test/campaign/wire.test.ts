import { describe, expect, it, test } from 'vitest';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { readEnvironments, readWire } from '../../src/campaign/environments.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import type { ProjectFile, WireFile } from '../../src/campaign/written.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import { CHANNELS } from '../../src/content/channels.ts';
import type { Diagnostic } from '../../src/errors.ts';
import type { Wire } from '../../src/model.ts';
import type { AnswerRule, Provider } from '../../src/providers/provider.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
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
  const { value, diagnostics, reported } = check('project', text);
  const { yaml } = readYaml(Buffer.from(text), 'file.yaml');
  const found = readEnvironments(value as ProjectFile, yaml, '/', new Map(), reported);
  const live = found.environments.get('live');
  return { wire: live?.wire, provider: live?.provider, diagnostics: [...diagnostics, ...found.diagnostics] };
}

function rule(written: Partial<AnswerRule>): AnswerRule {
  return { statuses: null, codeAt: null, codes: [], textAt: null, text: null, verdict: 'refused', ...written };
}

describe('what is written', () => {
  const CASES: readonly [yaml: string, is: Partial<Wire>][] = [
    ['answers: []', { answers: [] }],
    ['answers: [{ status: 503, then: retry }]', { answers: [rule({ statuses: [503], verdict: 'retry' })] }],
    [
      'answers: [{ codeAt: /why, code: [1300, NO_RCS], then: unsupported }]',
      { answers: [rule({ codeAt: '/why', codes: ['1300', 'NO_RCS'], verdict: 'unsupported' })] },
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
    ['senders: { Riverside: id-1 }', { senders: { Riverside: 'id-1' } }],
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

golden('what is written wrongly is refused at its place', 'campaign/wire', (yaml) =>
  diagnosticLines(read(yaml).diagnostics, 'file.yaml'),
);

it('names the channels where one is misspelt, and keeps the others', () => {
  const { provider, diagnostics } = read('channels: { smss: Text, email: Mail, sms: Short }');
  expect(brief(diagnostics)).toEqual(['unknown-key 5:19']);
  expect(diagnostics[0]?.hint).toBe('Did you mean "sms"?');
  expect(provider?.channels).toEqual({ ...PROVIDER.channels, email: 'Mail', sms: 'Short' });
  expect(read('channels: { fax: Fax }').diagnostics[0]?.hint).toBe(`Known keys: ${CHANNELS.join(', ')}.`);
});

describe('what a schema cannot judge', () => {
  it('says everything at once', () => {
    const { diagnostics } = read('answers:\n  - { status: 429, then: refused }\n  - { status: 200, then: retry }');
    expect(brief(diagnostics).toSorted()).toEqual(['invalid-value 6:21', 'invalid-value 7:21']);
  });
});
