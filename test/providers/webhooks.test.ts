import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { providerNames } from '../../src/campaign/read-provider.ts';
import type { WebhookEvent } from '../../src/model.ts';
import { listen } from '../../src/operations/listen.ts';
import { readSenders } from '../../src/operations/senders.ts';
import { type RunningReceiver, startReceiver } from '../../src/webhook/receive.ts';
import { exchange, type Reply } from '../webhook/sender.ts';
import { knownProvider, type WebhookExample, type WebhookThen } from './examples.ts';
import { PROOFS, type Proof, type Proven, type Sent } from './webhook-proofs.ts';

const NAMES = providerNames().filter((name) => name !== 'messages-v2');
const PUBLIC = 'https://hooks.riverside.example';
const VERIFY_TOKEN = 's3cret-of-the-webhook';
/** After all times in the examples. */
const NOW_MS = Date.parse('2026-11-30T12:00:00Z');

const folder = mkdtempSync(join(tmpdir(), 'handbill-provider-webhooks-'));
const env = { ...Object.fromEntries(NAMES.map((name) => [variableOf(name), proofOf(name).secret])), VERIFY_TOKEN };
let receiver: RunningReceiver;
let recorded: { readonly environment: string; readonly events: readonly WebhookEvent[] }[] = [];

/** One project in which each provider has an environment of its name. */
function projectText(): string {
  const environments = NAMES.map((name) => {
    const { provider, examples } = knownProvider(name);
    const secrets = Object.fromEntries(Object.keys(provider.secrets).map((key) => [key, { env: 'API_SECRET' }]));
    const webhook = {
      url: `${PUBLIC}/webhooks/${name}`,
      secrets: [{ env: variableOf(name) }],
      ...(name === 'whatsapp-cloud' ? { verifyToken: { env: 'VERIFY_TOKEN' } } : {}),
    };
    return [name, { provider: name, vars: examples.vars ?? {}, secrets, webhook }] as const;
  });
  return stringify({ defaultCountry: 'GB', environments: Object.fromEntries(environments) });
}

function variableOf(name: string): string {
  return `WEBHOOK_${name.toUpperCase().replaceAll('-', '_')}`;
}

beforeAll(async () => {
  mkdirSync(join(folder, 'campaigns'));
  writeFileSync(join(folder, 'handbill.yaml'), projectText());
  const reading = readProject(findProject(folder), { cwd: folder });
  expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { senders } = await readSenders(reading, null, env);
  receiver = await startReceiver({
    path: '/webhooks',
    senders,
    environment: null,
    record: (events, environment) => void recorded.push({ environment, events }),
    port: 0,
    now: () => NOW_MS,
  });
});

afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  recorded = [];
});

function proofOf(name: string): Proof {
  const proof = PROOFS[name];
  if (proof === undefined) throw new Error(`There is no proof of ${name}.`);
  return proof;
}

function prove(name: string, sent: Sent): Proven {
  return proofOf(name).prove(sent);
}

/** What a provider sends for an example, before it proves itself. */
function sentOf(name: string, { form, json, query }: WebhookExample, atMs = NOW_MS): Sent {
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  const method = form === undefined && json === undefined ? 'GET' : 'POST';
  const body = form === undefined ? (json === undefined ? '' : JSON.stringify(json)) : `${new URLSearchParams(form)}`;
  return { method, url: `${PUBLIC}/webhooks/${name}${search}`, body, atMs };
}

/** Posts to the listener behind the public URL. */
async function send(sent: Sent, proven: Proven, port = receiver.port): Promise<Reply> {
  const { pathname, search } = new URL(sent.url);
  const path = `${pathname}${proven.segment === undefined ? '' : `/${proven.segment}`}${search}`;
  const options = { method: sent.method, headers: proven.headers };
  return await exchange(`http://127.0.0.1:${port}${path}`, options, (outgoing) => {
    outgoing.end(proven.body ?? sent.body);
  });
}

function expectedOf({ state, reply, reference, messageId, to, timestamp, cause, optsOut }: WebhookThen): object {
  const said = <T>(key: string, value: T | undefined): object => (value === undefined ? {} : { [key]: value });
  const msOf = (written: string | null | undefined): number | null | undefined =>
    typeof written === 'string' ? Date.parse(written) : written;
  if (reply === undefined) {
    const why = said('cause', optsOut === true ? 'opted-out' : cause);
    const ids = { ...said('reference', reference), ...said('messageId', messageId), ...said('address', to) };
    return { kind: 'delivery', state, ...ids, ...why, ...said('atMs', msOf(timestamp)) };
  }
  const { inReplyTo, timestamp: at, ...rest } = reply;
  return { kind: 'reply', ...rest, ...said('messageId', inReplyTo), ...said('atMs', msOf(at)) };
}

describe.each(NAMES)('%s', (name) => {
  const { webhooks } = knownProvider(name).examples;

  it.each(webhooks.filter(({ then }) => !('challenge' in then)))('records $about', async (example) => {
    const sent = sentOf(name, example);
    expect(await send(sent, prove(name, sent))).toMatchObject({ status: 200, body: '' });
    expect(recorded.map(({ environment }) => environment)).toEqual([name]);
    const events = recorded.flatMap((one) => one.events);
    expect(events).toHaveLength([example.then].flat().length);
    for (const [i, then] of [example.then].flat().entries()) expect(events[i]).toMatchObject(expectedOf(then));
  });

  it.each(tamperedOf(name))('refuses %s', async (_label, sent, proven) => {
    const { status, body } = await send(sent, proven);
    expect([401, 404, 405]).toContain(status);
    expect([body, recorded]).toEqual(['', []]);
  });
});

/** For the first example of each method: requests that are not those that the provider has signed. */
function tamperedOf(name: string): readonly (readonly [label: string, sent: Sent, proven: Proven])[] {
  const { prove, covers } = proofOf(name);
  const all = knownProvider(name).examples.webhooks.filter(({ then }) => !('challenge' in then));
  const firsts = (['GET', 'POST'] as const).flatMap((method) => {
    return all
      .map((example) => sentOf(name, example))
      .filter((sent) => sent.method === method)
      .slice(0, 1);
  });
  return firsts.flatMap((good) => {
    const { method, url, body } = good;
    const [old, early] = [-301_000, 301_000].map((ms) => ({ ...good, atMs: NOW_MS + ms })) as [Sent, Sent];
    const others = {
      body: body.replace('7700900', '7700901'),
      url: `${url}${url.includes('?') ? '&' : '?'}handbill=x`,
    };
    const isMailgun = name === 'mailgun';
    const unproven = isMailgun ? { body: body.replace(/"signature":\{[^}]*\}/, '"signature":{}') } : {};
    const cases: readonly (readonly [label: string, applies: boolean, sent: Sent, proven: Proven])[] = [
      ['the secret of another account', true, good, prove(good, { wrong: true })],
      ['no proof', true, good, { headers: {}, ...unproven }],
      ['a changed body', covers.includes('body') && body !== '', { ...good, body: others.body }, prove(good)],
      ['a changed URL', covers.includes('url'), { ...good, url: others.url }, prove(good)],
      ['an old time', covers.includes('time'), old, prove(old)],
      ['a time ahead', covers.includes('time'), early, prove(early)],
    ];
    return cases.flatMap(([label, applies, ...rest]) => (applies ? [[`${label} (${method})`, ...rest] as const] : []));
  });
}

describe('a request that comes again', () => {
  it.each(NAMES)('of %s is recorded once', async (name) => {
    const counts = { new: 0, known: 0 };
    await using listening = await listen({
      cwd: folder,
      env,
      now: () => NOW_MS,
      port: 0,
      ledger: `${name}.db`,
      onRecorded: ({ reports, replies, known }) => {
        counts.new += reports + replies;
        counts.known += known;
      },
    });
    const [example] = knownProvider(name).examples.webhooks;
    if (example === undefined) throw new Error(`${name} has examples.`);
    const sent = sentOf(name, example);
    const proven = prove(name, sent);
    for (const _ of [1, 2]) expect((await send(sent, proven, listening.port)).status).toBe(200);
    const count = [example.then].flat().length;
    expect(counts).toEqual({ new: count, known: count });
  });

  it('with another event under the token of Mailgun is refused', async () => {
    const [first, second] = knownProvider('mailgun').examples.webhooks.map((one) => sentOf('mailgun', one));
    if (first === undefined || second === undefined) throw new Error('Mailgun has two examples.');
    const { body = '' } = prove('mailgun', first);
    expect((await send(first, { headers: {}, body })).status).toBe(200);
    const { signature } = JSON.parse(body) as { signature: { timestamp: string; token: string } };
    const forged = { ...JSON.parse(second.body), signature } as object;
    expect((await send(first, { headers: {}, body: JSON.stringify(forged) })).status).toBe(401);
    expect(recorded).toHaveLength(1);
  });

  it('with another cut between time and token is refused', async () => {
    const example = knownProvider('mailgun').examples.webhooks[0];
    if (example === undefined) throw new Error('Mailgun has examples.');
    const sent = sentOf('mailgun', example);
    const proven = proofOf('mailgun').prove(sent, { id: '123abcdef' });
    expect((await send(sent, proven)).status).toBe(200);
    const document = JSON.parse(proven.body ?? '') as { signature: { timestamp: string; signature: string } };
    const { timestamp, signature } = document.signature;
    const cut = { ...document, signature: { timestamp: `${timestamp}123`, token: 'abcdef', signature }, other: 1 };
    expect((await send(sent, { headers: {}, body: JSON.stringify(cut) })).status).toBe(401);
  });
});

describe("Meta's handshake", () => {
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': VERIFY_TOKEN, 'hub.challenge': '1158201444' };
  it.each<[label: string, name: string, query: Readonly<Record<string, string>>, status: number, body: string]>([
    ['is answered with the challenge', 'whatsapp-cloud', query, 200, '1158201444'],
    ['is refused with another token', 'whatsapp-cloud', { ...query, 'hub.verify_token': 'x' }, 401, ''],
    ['is refused without a token', 'whatsapp-cloud', { 'hub.mode': 'subscribe', 'hub.challenge': '1' }, 401, ''],
    ['never sends back HTML', 'whatsapp-cloud', { ...query, 'hub.challenge': '<script>' }, 400, ''],
    ['is not for other GETs', 'whatsapp-cloud', { a: 'b' }, 405, ''],
    ['is not for other providers', 'infobip', query, 405, ''],
    ['is an unproven event where events come by GET', 'vonage-sms', query, 401, ''],
  ])('%s', async (_label, name, parameters, status, body) => {
    const sent: Sent = {
      method: 'GET',
      url: `${PUBLIC}/webhooks/${name}?${new URLSearchParams(parameters)}`,
      body: '',
      atMs: NOW_MS,
    };
    const reply = await send(sent, { headers: {} });
    expect(reply).toMatchObject({ status, body });
    expect(recorded).toEqual([]);
  });
});
