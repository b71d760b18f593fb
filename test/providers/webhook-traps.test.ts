import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { findProject } from '../../src/campaign/place.ts';
import { type ProjectReading, readProject } from '../../src/campaign/project.ts';
import { interpreterOf } from '../../src/operations/project.ts';
import { readSenders } from '../../src/operations/senders.ts';
import { golden } from '../helpers/golden.ts';
import { knownProvider } from './examples.ts';

const NAMES = ['46elks', 'gatewayapi', 'mailgun', 'postmark', 'telnyx', 'twilio', 'vonage-sms', 'cm'];
const NOW_MS = Date.parse('2026-11-30T12:00:00Z');
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

golden('what providers post is read without their traps', 'providers/webhook-traps', (input) => {
  const [from = '', body = ''] = input.split('\n');
  const [provider = '', reference] = from.split(' ');
  const read = interpreterOf(reading, provider).interpret(Buffer.from(body), NOW_MS, reference);
  return read.events.map((event) => Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null)));
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
