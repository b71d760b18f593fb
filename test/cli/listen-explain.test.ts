import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Explanation } from '../../src/cli/listen/explain.ts';
import { CLI } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'webhook');
const SCHEMA = join(import.meta.dirname, '..', '..', 'schemas', 'explanation.schema.json');
const NOW = { now: () => Date.UTC(2026, 10, 21, 10), width: 100 };
const ODD = { report: { number: 'm-71', phase: 'handed-over', who: '07700900123', when: 1_795_251_600 } };
const PROJECT = 'defaultCountry: GB\n';

async function explained(body: string | Uint8Array, project = PROJECT, format = 'json'): Promise<string> {
  using files = createProject({ 'handbill.yaml': project, 'body.json': body });
  const run = await handbillHere(files.root, ['listen', '--explain', 'body.json', '--format', format], NOW);
  expect({ status: run.status, err: run.err }).toEqual({ status: 0, err: '' });
  // Neither a port nor a ledger was opened.
  expect([...files.contents().keys()].sort()).toEqual([files.path('body.json'), files.path('handbill.yaml')]);
  return run.out;
}

async function explanationOf(body: string | Uint8Array, project = PROJECT): Promise<Explanation> {
  return JSON.parse(await explained(body, project)) as Explanation;
}

describe('handbill listen --explain', () => {
  it('says where each part was read, as the body spells it', async () => {
    const { events, mapping } = await explanationOf(readFileSync(join(FIXTURES, 'whatsapp.json')));
    const status = '/entry/0/changes/0/value/statuses/0';
    expect(events[0]).toMatchObject({
      at: status,
      event: { kind: 'delivery', state: 'read', channel: 'messaging-app' },
      from: {
        messageId: `${status}/id`,
        address: `${status}/recipient_id`,
        state: `${status}/status`,
        channel: '/entry/0/changes/0/value/messaging_product',
      },
    });
    expect(events.map(({ event }) => event.kind)).toEqual(['delivery', 'delivery', 'reply', 'unread', 'unread']);
    expect(mapping).toBeNull();
  });

  it('every pointer leads to something, and every event has a source for what it holds', async () => {
    for (const name of [
      'infobip-reports.json',
      'telnyx-group-report.json',
      'own-api-report.json',
      'esendex-failed.json',
    ]) {
      const text = readFileSync(join(FIXTURES, name), 'utf8');
      for (const { event, from } of (await explanationOf(text)).events) {
        const parts = Object.entries(event).filter(
          ([part, value]) => value !== null && !['kind', 'word', 'cause'].includes(part),
        );
        const derived = 'word' in event && event.word === null ? ['state'] : [];
        expect(Object.keys(from).concat(derived).sort()).toEqual(parts.map(([part]) => part).sort());
        for (const pointer of Object.values(from)) expect(valueAt(JSON.parse(text), pointer)).toBeDefined();
      }
    }
  });

  it('what it suggests makes the payload readable', async () => {
    const first = await explanationOf(JSON.stringify(ODD));
    expect(first.events).toMatchObject([{ event: { kind: 'unread' } }]);
    expect(first.mapping).toEqual({
      webhook: { fields: { status: '/phase', messageId: '/number', to: '/who', timestamp: '/when' } },
    });
    const second = await explanationOf(JSON.stringify(ODD), PROJECT + stringify(first.mapping));
    expect(second.events).toMatchObject([
      { event: { state: 'unknown', messageId: 'm-71', address: '+447700900123', atMs: 1_795_251_600_000 } },
    ]);
    expect(second.mapping).toEqual({ webhook: { states: { 'handed-over': 'sent' } } });
  });

  it('takes the number of a person for no id of a message', async () => {
    const body = {
      ident: 'm-71',
      stage: 1,
      phase: 'parked',
      destNumber: '07700900123',
      sentOn: '2026-11-21T09:00:00Z',
    };
    const { mapping } = await explanationOf(JSON.stringify({ report: body }));
    expect(mapping).toMatchObject({
      webhook: { fields: { status: '/phase', messageId: '/ident', to: '/destNumber', timestamp: '/sentOn' } },
    });
  });

  it('calls parts as the mapping calls them', async () => {
    const body = { id: 'm-1', status: 'sent', to: '07700900123', timestamp: '2026-11-21T09:00:00Z' };
    const text = await explained(JSON.stringify(body), PROJECT, 'text');
    expect(text).toMatch(/^ +to +\+447700900123 +\/to$/m);
    expect(text).toMatch(/^ +timestamp +2026-11-21T09:00:00.000Z +\/timestamp$/m);
  });

  it('text shows events, what is left over, and what to write', async () => {
    const body = [
      { messageId: 'm-1', status: 'parked', to: '07700900123', extra: 1 },
      { from: '07700900123', text: 'STOP' },
    ];
    expect(await explained(JSON.stringify(body), PROJECT, 'text')).toBe(`body.json is JSON, with 2 events in it.

1. A delivery report at /0: unknown
   messageId  m-1                 /messageId
   to         +447700900123       /to
   state      unknown ("parked")  /status
   not read: /extra
   The state "parked" is unknown: it counts as "unknown" until \`webhook.states\` says what it means.
   It does not say when it happened.

2. A reply at /1: it opts out
   from  +447700900123  /from
   text  STOP           /text
   It does not say when it happened.

This in handbill.yaml may help; check what it means:

  webhook:
    states:
      parked: sent
`);
  });

  it('shows what a terminal would obey', async () => {
    const out = await explained('{"messageId":"m","status":"\\u001b[31mred","from":"\\u202ex"}', PROJECT, 'text');
    for (const sign of ['\u001b', '\u202e']) expect(out).not.toContain(sign);
  });

  it('says why a body is refused', async () => {
    expect(await explanationOf('prose')).toMatchObject({
      problem: expect.stringContaining('neither JSON'),
      events: [],
    });
    expect(await explained('prose', PROJECT, 'text')).toBe(
      'body.json is refused: The body is neither JSON, nor JSON lines, nor a form.\n',
    );
  });

  it('is as its schema says', async () => {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);
    for (const body of [JSON.stringify(ODD), 'prose', '', readFileSync(join(FIXTURES, 'whatsapp.json'))]) {
      expect(validate(await explanationOf(body)), JSON.stringify(validate.errors)).toBe(true);
    }
  });

  it('reads standard input', () => {
    using files = createProject({ 'handbill.yaml': PROJECT });
    const input = '{"messageId":"m","status":"sent"}';
    const run = spawnSync(process.execPath, [CLI, 'listen', '--explain', '-'], {
      cwd: files.root,
      input,
      encoding: 'utf8',
    });
    expect(run.stdout).toContain('1. A delivery report: sent');
  });

  it('refuses a file that is not there', async () => {
    using files = createProject({ 'handbill.yaml': PROJECT });
    const run = await handbillHere(files.root, ['listen', '--explain', 'nowhere.json'], NOW);
    expect(run).toMatchObject({ status: 2, out: '', err: expect.stringContaining('file-not-found') });
  });
});

function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const name of pointer.split('/').slice(1)) value = (value as Record<string, unknown>)[name];
  return value;
}
