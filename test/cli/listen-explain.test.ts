import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLI } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'webhook');
const NOW = { now: () => Date.UTC(2026, 10, 21, 10), width: 100 };
const ODD = { report: { number: 'm-71', phase: 'handed-over', who: '07700900123', when: 1_795_251_600 } };
const PROJECT = 'defaultCountry: GB\n';

async function explained(body: string | Uint8Array, project = PROJECT): Promise<string> {
  using files = createProject({ 'handbill.yaml': project, 'body.json': body });
  const run = await handbillHere(files.root, ['listen', '--explain', 'body.json'], NOW);
  expect({ status: run.status, err: run.err }).toEqual({ status: 0, err: '' });
  // Neither a port nor a ledger was opened.
  expect([...files.contents().keys()].sort()).toEqual([files.path('body.json'), files.path('handbill.yaml')]);
  return run.out;
}

/** What it says to write into handbill.yaml. */
function settingsIn(text: string): unknown {
  return parse(text.split('check what it means:\n')[1] ?? 'null');
}

describe('handbill listen --explain', () => {
  it.each(['infobip-reports.json', 'telnyx-group-report.json', 'own-api-report.json', 'esendex-failed.json'])(
    'proposes no setting for %s, which is read without one',
    async (name) => expect(settingsIn(await explained(readFileSync(join(FIXTURES, name))))).toBeNull(),
  );

  it('names the events of a body that are not understood, and those alone', async () => {
    const text = await explained(readFileSync(join(FIXTURES, 'whatsapp.json')));
    expect(text).toMatch(/^body\.json is JSON, with 5 events in it\. Something is missing in 2:\n/);
    expect(text.match(/^The event at .*$/gm)).toHaveLength(2);
    expect(settingsIn(text)).toBeNull();
  });

  it('what it suggests makes the payload readable', async () => {
    const first = settingsIn(await explained(JSON.stringify(ODD)));
    expect(webhookIn(first)).toEqual({
      fields: { status: '/phase', messageId: '/number', to: '/who', timestamp: '/when' },
    });
    const second = settingsIn(await explained(JSON.stringify(ODD), PROJECT + stringify(first)));
    expect(webhookIn(second)).toEqual({ states: { 'handed-over': 'sent' } });
    const third = await explained(JSON.stringify(ODD), PROJECT + merged(first, second));
    expect(third).toBe('body.json is JSON, with 1 event in it. All that handbill needs is read.\n');
  });

  it('takes the number of a person for no id of a message', async () => {
    const body = {
      ident: 'm-71',
      stage: 1,
      phase: 'parked',
      destNumber: '07700900123',
      sentOn: '2026-11-21T09:00:00Z',
    };
    expect(webhookIn(settingsIn(await explained(JSON.stringify({ report: body }))))).toEqual({
      fields: { status: '/phase', messageId: '/ident', to: '/destNumber', timestamp: '/sentOn' },
    });
  });

  it('shows what nothing reads, why it matters, and what to write', async () => {
    const body = [
      { messageId: 'm-1', status: 'parked', to: '07700900123', extra: 1 },
      { from: '07700900123', text: 'STOP' },
      { messageId: 'm-2', status: 'sent', to: '07700900123', timestamp: '2026-11-21T09:00:00Z' },
      { hello: 'world' },
    ];
    expect(
      await explained(JSON.stringify(body)),
    ).toBe(`body.json is JSON, with 4 events in it. Something is missing in 3:

The event at /0
   not read: /extra
   The state "parked" counts as "unknown" until \`webhook.states\` says what it means.
   It does not say when it happened.

The event at /1
   It does not say when it happened.

The event at /3
   not read: /hello
   It is neither a delivery report nor a reply.

This in handbill.yaml may help; check what it means:

  environments:
    sandbox:
      webhook:
        states:
          parked: sent
`);
  });

  it('shows what a terminal would obey', async () => {
    const out = await explained('{"messageId":"m","status":"\\u001b[31mred","\\u202ex":"\\u202ex"}');
    expect(out).toContain('/\\u{202e}x');
    for (const sign of ['\u001b', '\u202e']) expect(out).not.toContain(sign);
  });

  it('says why a body is refused', async () => {
    expect(await explained('prose')).toBe(
      'body.json is refused: The body is neither JSON, nor JSON lines, nor a form.\n',
    );
  });

  it('reads standard input', () => {
    using files = createProject({ 'handbill.yaml': PROJECT });
    const input = '{"messageId":"m","status":"parked"}';
    const run = spawnSync(process.execPath, [CLI, 'listen', '--explain', '-'], {
      cwd: files.root,
      input,
      encoding: 'utf8',
    });
    expect(run.stdout).toContain('standard input is JSON, with 1 event in it.');
    expect(run.stdout).toContain('parked: sent');
  });

  it('refuses a file that is not there, and one that is too large', async () => {
    using files = createProject({ 'handbill.yaml': PROJECT, 'large.json': ' '.repeat(1024 * 1024 + 1) });
    const explain = (file: string) => handbillHere(files.root, ['listen', '--explain', file], NOW);
    expect(await explain('nowhere.json')).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('file-not-found'),
    });
    expect(await explain('large.json')).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('file-too-large'),
    });
  });
});

function webhookIn(settings: unknown): object {
  return (settings as { environments: { sandbox: { webhook: object } } }).environments.sandbox.webhook;
}

function merged(...settings: readonly unknown[]): string {
  return stringify({ environments: { sandbox: { webhook: Object.assign({}, ...settings.map(webhookIn)) } } });
}
