import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { findProject } from '../../src/campaign/place.ts';
import { type ProjectReading, readProject } from '../../src/campaign/project.ts';
import { interpreterOf } from '../../src/operations/project.ts';
import { readSenders } from '../../src/operations/senders.ts';
import { knownProvider } from './examples.ts';

const NAMES = ['46elks', 'gatewayapi', 'mailgun', 'postmark', 'telnyx', 'twilio', 'vonage-sms', 'cm'];
const NOW_MS = Date.parse('2026-11-30T12:00:00Z');
const REFERENCE = 'Kx3nPq8sT0uVwYz1aBcD_-';
const folder = mkdtempSync(join(tmpdir(), 'handbill-traps-'));
let reading: ProjectReading;

beforeAll(async () => {
  mkdirSync(join(folder, 'campaigns'));
  const environments = NAMES.map((provider) => {
    const known = knownProvider(provider);
    const secrets = Object.fromEntries(Object.keys(known.provider.secrets).map((key) => [key, { env: 'API_SECRET' }]));
    const webhook = { url: 'https://hooks.example.com/in', secrets: [{ env: 'WEBHOOK_SECRET' }] };
    return [provider, { provider, vars: known.examples.vars ?? {}, secrets, webhook }];
  });
  const text = stringify({ defaultCountry: 'GB', environments: Object.fromEntries(environments) });
  writeFileSync(join(folder, 'handbill.yaml'), text);
  reading = readProject(findProject(folder), { cwd: folder });
});

afterAll(() => rmSync(folder, { recursive: true }));

const BOUNCE = { RecordType: 'Bounce', Type: 'HardBounce', MessageID: 'm-1', Email: 'ana@riverside.example' };
const CHANGE = { RecordType: 'SubscriptionChange', MessageID: 'm-1', Recipient: 'ana@riverside.example' };
const MAILGUN = { event: 'delivered', recipient: 'ana@riverside.example' };

it.each<[label: string, provider: string, body: string | object, expected: object, reference?: string]>([
  [
    'an id in other clothes',
    'mailgun',
    { 'event-data': { ...MAILGUN, message: { headers: { 'message-id': '<a@b>' } } } },
    { messageId: 'a@b', state: 'delivered' },
  ],
  [
    'a "to" that is our sender',
    'vonage-sms',
    'msisdn=447700900123&to=447700900999&messageId=m1&status=delivered&err-code=0',
    { address: '+447700900123', cause: null },
  ],
  [
    'a "From" that is ours, in a complaint',
    'postmark',
    { ...BOUNCE, RecordType: 'SpamComplaint', Type: 'SpamComplaint', From: 'hello@riverside.example' },
    { address: 'ana@riverside.example', cause: 'opted-out' },
  ],
  [
    'a bounce that ends the subscription is no opt-out',
    'postmark',
    { ...CHANGE, SuppressSending: true, SuppressionReason: 'HardBounce' },
    { cause: null },
  ],
  [
    'a subscription that is taken up again is no opt-out',
    'postmark',
    { ...CHANGE, SuppressSending: false, SuppressionReason: null },
    { cause: null },
  ],
  [
    'a + in a form',
    'twilio',
    'MessageSid=SM1&MessageStatus=delivered&To=%2B447700900123',
    { address: '+447700900123' },
  ],
  [
    'a bare + in a form',
    'twilio',
    'MessageSid=SM1&MessageStatus=delivered&To=+447700900123',
    { address: '+447700900123' },
  ],
  [
    'an id above 2^53, and a number of a phone as a JSON number',
    'gatewayapi',
    '{"id":9007199254740993,"msisdn":447700900123,"status":"DELIVERED"}',
    { messageId: '9007199254740993', address: '+447700900123' },
  ],
  [
    'a STOP that only the provider has seen',
    'twilio',
    'MessageSid=SM1&MessageStatus=failed&To=%2B447700900123&ErrorCode=21610',
    { cause: 'opted-out' },
  ],
  [
    'a word of STOP that only the provider knows',
    'twilio',
    'MessageSid=SM1&From=%2B447700900123&To=%2B447700900100&Body=Adios&OptOutType=STOP',
    { kind: 'reply', meaning: 'opt-out' },
  ],
  [
    'a code of an opt-out beside a state that is no failure',
    'twilio',
    'MessageSid=SM1&MessageStatus=delivered&To=%2B447700900123&ErrorCode=21610',
    { cause: null },
  ],
  [
    'a reference in the URL, where the report names neither message nor person',
    '46elks',
    'status=delivered',
    { reference: REFERENCE, state: 'delivered' },
    REFERENCE,
  ],
  [
    'a reference in the URL that is none',
    'twilio',
    'MessageSid=SM1&MessageStatus=sent',
    { reference: null, messageId: 'SM1' },
    'someone',
  ],
  [
    'a reference in the body goes before one in the URL',
    'vonage-sms',
    `messageId=m1&status=delivered&client-ref=${REFERENCE}`,
    { reference: REFERENCE },
    'Lx3nPq8sT0uVwYz1aBcD_-',
  ],
  [
    'a reference in letters and digits is that of the ledger',
    'cm',
    { reference: '0000000000000000000000000a', status: { code: '2' } },
    { reference: 'AAAAAAAAAAAAAAAAAAAAAK' },
  ],
])('%s', (_label, provider, body, expected, reference) => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const { events } = interpreterOf(reading, provider).interpret(bytes, NOW_MS, reference);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject(expected);
});

it('the ledger may take no longer than the most impatient provider waits', async () => {
  const env = { WEBHOOK_SECRET: Buffer.alloc(32, 'a public key').toString('base64') };
  const named = (names: readonly string[]) => {
    const environments = new Map([...reading.project.environments].filter(([name]) => names.includes(name)));
    return { ...reading, project: { ...reading.project, environments } };
  };
  expect((await readSenders(named(['telnyx', 'twilio']), null, env)).patienceMs).toBe(2000);
  expect((await readSenders(named(['twilio']), null, env)).patienceMs).toBe(Number.POSITIVE_INFINITY);
});
