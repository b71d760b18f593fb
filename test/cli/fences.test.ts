import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { sendPlan } from '../../src/operations/send-once.ts';
import { createExpander } from '../../src/plan/expand.ts';
import { openFence } from '../../src/plan/fence.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createAddressReader } from '../../src/providers/addresses.ts';
import { type AddressForm, type NumberForm, requestFor } from '../../src/providers/provider.ts';
import { joinReplies } from '../../src/send/deliveries.ts';
import { createMemory } from '../../src/send/memory.ts';
import { deliveryOf, replyOf } from '../helpers/events.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const KEY = { KEY: 'key-of-a-test' };
const PEOPLE = `key,msisdn,email
ann,+447700900001,Ann@example.com
bo,+447700900002,bo@example.com
cy,+447700900003,cy@example.com
`;

let server: RawServer;
let bodies: string[];
let project: TestProject;
beforeEach(async () => {
  bodies = [];
  server = await startRawServer({
    behaviour: (request) => {
      bodies.push(request.body);
      const isEmail = request.body.includes('"email"');
      const status = isEmail ? 422 : 202;
      return answer(status, isEmail ? '{"code":"UNSUPPORTED_CHANNEL"}' : `{"id":"M${bodies.length}"}`)(request);
    },
  });
  project = createProject({
    'handbill.yaml': yaml('only: testers.csv'),
    'testers.csv': 'msisdn,email,name\n07700 900001,ann@example.com,Ann\n,bo@example.com,Bo\n',
    'texts/campaign.yaml':
      'name: texts\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: ../people.csv, key: key }\n',
    'mails/campaign.yaml': `name: mails
channel: email
from: shop@example.com
content: { subject: Hi, text: Hi }
fallback: { channel: sms, to: msisdn, from: Riverside, template: { text: Hi } }
recipients: { csv: ../people.csv, key: key, to: email }
`,
    'people.csv': PEOPLE,
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

function yaml(keys: string): string {
  return `defaultCountry: GB
environments:
  staging:
    baseUrl: "${new URL(server.url).origin}"
    apiKey: { env: KEY }
    wire: { answers: [{ status: 422, then: unsupported }] }
    ${keys}
`;
}

const run = (...args: readonly string[]) => handbillHere(project.root, args, { env: KEY, width: 200 });

async function outcomes(campaign: string): Promise<Readonly<Record<string, string>>> {
  const { out } = await run('report', campaign, '--format', 'jsonl');
  const rows = jsonLines(out);
  return Object.fromEntries(rows.map(({ key, outcome, reason }) => [key, reason === null ? outcome : reason]));
}

describe('only', () => {
  it('sends to the addresses of the file, and skips all others (A2)', async () => {
    const { status } = await run('send', 'texts', '--env', 'staging', '--yes');
    expect([status, bodies.length]).toEqual([0, 1]);
    expect(bodies[0]).toContain('+447700900001');
    expect(await outcomes('texts')).toEqual({ ann: 'accepted', bo: 'fenced', cy: 'fenced' });
  });

  it('asks about the address of each step: no fallback goes outside', async () => {
    await run('send', 'mails', '--env', 'staging', '--yes');
    const numbers = bodies.flatMap((body) => body.match(/\+4477009000\d\d/g) ?? []);
    expect(numbers).toEqual(['+447700900001']);
    expect(await outcomes('mails')).toEqual({ ann: 'accepted', bo: 'unsupported-channel', cy: 'fenced' });
  });

  it('takes addresses in place, and holds for tests to testers too', async () => {
    project.write('handbill.yaml', yaml('only: ["+44 7700 900002", "bo@example.com"]'));
    await run('send', 'texts', '--env', 'staging', '--yes', '--test-to', '+447700900009');
    expect(bodies).toEqual([]);
    await run('send', 'texts', '--env', 'staging', '--yes', '--test-to', '+447700900002');
    expect(bodies.length).toBe(1);
  });

  it('is said by preview, plan and doctor, and is no rule of other environments', async () => {
    const preview = await run('preview', 'texts', '--env', 'staging');
    expect(preview.err).toContain('staging sends to 3 addresses only (`only`)');
    expect(preview.out).toContain('fenced');
    expect((await run('plan', 'texts', '--env', 'staging')).out).toContain('"fenced": 2');
    expect((await run('doctor')).out).toMatch(/fence +staging +.*3 addresses only/);
    expect((await run('preview', 'texts')).out).not.toContain('fenced');
  });

  it.each([
    ['a file that is missing', 'only: missing.csv', {}, 'file-not-found'],
    ['a file without rows', 'only: empty.csv', { 'empty.csv': 'msisdn\n' }, 'fence'],
    ['an empty file', 'only: empty.csv', { 'empty.csv': '' }, 'csv-no-header'],
    ['a file without addresses', 'only: x.csv', { 'x.csv': 'name\nAnn\n' }, 'invalid-suppression'],
    ['an end', 'only: x.csv', { 'x.csv': 'msisdn,until\n+447700900001,2099-01-01\n' }, 'fence'],
    ['a number that is none', 'only: "+44 12"', {}, 'invalid-address'],
  ])('%s refuses the run', async (_, keys, files, code) => {
    project.write('handbill.yaml', yaml(keys));
    for (const [path, text] of Object.entries(files)) project.write(path, text);
    const { status, err } = await run('send', 'texts', '--env', 'staging', '--yes');
    expect([status, bodies]).toEqual([2, []]);
    expect(err).toContain(`error[${code}]`);
    expect((await run('doctor')).status).toBe(2);
  });

  it('that changed is an input that changed', async () => {
    await run('send', 'texts', '--env', 'staging', '--yes', '--limit', '0');
    await run('send', 'mails', '--env', 'staging', '--yes', '--limit', '1');
    project.write('testers.csv', 'email\ncy@example.com\n');
    const { status, err } = await run('send', 'mails', '--env', 'staging', '--yes');
    expect([status, err]).toEqual([2, expect.stringContaining('The addresses of `only` changed')]);
  });
});

describe('redirect', () => {
  const REDIRECT = '["+447700900009", "qa@example.com"]';

  it('sends to the one address, marked with the recipient, and keeps the recipient in the ledger', async () => {
    project.write('handbill.yaml', yaml(`redirect: ${REDIRECT}`));
    const preview = await run('preview', 'texts', '--env', 'staging');
    expect(preview.out).toContain('(for +447700900001) Hi');
    expect(preview.err).toMatch(/staging sends every message to \S+ or \S+ instead/);
    const { status } = await run('send', 'texts', '--env', 'staging', '--yes', '--concurrency', '1');
    expect([status, bodies.length]).toEqual([0, 3]);
    expect(bodies[0]).toContain('"msisdn":"+447700900009"');
    expect(bodies[0]).toContain('"text":"(for +447700900001) Hi"');
    const { out } = await run('report', 'texts', '--format', 'jsonl');
    expect(out).toContain('"to":"+447700900001"');
    expect(out).not.toContain('+447700900009');
  });

  it('marks the subject of an email, and redirects fallbacks to the address of their kind', async () => {
    project.write('handbill.yaml', yaml(`redirect: ${REDIRECT}`));
    await run('send', 'mails', '--env', 'staging', '--yes', '--limit', '1');
    expect(bodies[0]).toContain('"email":"qa@example.com"');
    expect(bodies[0]).toContain('(for Ann@example.com) Hi');
    expect(bodies[1]).toContain('"msisdn":"+447700900009"');
    expect(bodies[1]).toContain('(for +447700900001) Hi');
  });

  it('counts the parts of what is really sent', async () => {
    const long = 'x'.repeat(150);
    project.write('handbill.yaml', yaml(`redirect: ${REDIRECT}`));
    project.write(
      'texts/campaign.yaml',
      `name: texts\nchannel: sms\nfrom: Riverside\ntemplate: { text: ${long} }\nrecipients: ../people.csv\n`,
    );
    expect(JSON.parse((await run('plan', 'texts', '--env', 'staging')).out).estimate.parts).toBe(6);
    expect(JSON.parse((await run('plan', 'texts')).out).estimate.parts).toBe(3);
  });

  it('asks `only` about the recipient first', async () => {
    project.write('handbill.yaml', yaml(`only: testers.csv\n    redirect: ${REDIRECT}`));
    await run('send', 'texts', '--env', 'staging', '--yes');
    expect(bodies.map((body) => /for (\S+)\)/.exec(body)?.[1])).toEqual(['+447700900001']);
  });

  it.each([
    ['no address for the channel', 'redirect: qa@example.com', 'fence'],
    ['two of one kind', 'redirect: ["+447700900008", "+447700900009"]', 'fence'],
    ['no address at all', 'redirect: "+44 12"', 'invalid-address'],
  ])('%s refuses the run', async (_, keys, code) => {
    project.write('handbill.yaml', yaml(keys));
    const { status, err } = await run('send', 'texts', '--env', 'staging', '--yes');
    expect([status, bodies, err]).toEqual([2, [], expect.stringContaining(`error[${code}]`)]);
  });

  it('a STOP of the tester suppresses the tester alone, and reports about the tester count for the row', async () => {
    project.write('handbill.yaml', yaml(`redirect: ${REDIRECT}`));
    await run('send', 'texts', '--env', 'staging', '--yes', '--limit', '1');
    const nowMs = Date.now();
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs });
    const ids = { messageId: 'M1', atMs: nowMs };
    const stop = replyOf({
      ...ids,
      replyId: 'r1',
      from: '+447700900009',
      to: '60300',
      text: 'STOP',
      meaning: 'opt-out',
    });
    const arrived = deliveryOf({ ...ids, address: '+447700900009', word: 'delivered' });
    ledger.events.record([stop, arrived], { nowMs, source: 'webhook', environment: 'staging' });
    joinReplies(ledger, { startLifts: true, stopEnds: 'everything', now: () => nowMs });
    expect(ledger.isSuppressed('+447700900009', nowMs)).toBe(true);
    expect(ledger.isSuppressed('+447700900001', nowMs)).toBe(false);
    const [reply] = [...ledger.events.replies()].flat();
    expect(reply?.answers?.key).toBe('ann');
    ledger.events.reviewReplies(
      [reply?.number ?? 0],
      { meaning: 'opt-out', who: 'ann', atMs: nowMs },
      { startLifts: true },
    );
    expect(ledger.isSuppressed('+447700900001', nowMs)).toBe(false);
    ledger.close();
    const { out } = await run('report', 'texts', '--format', 'json');
    expect(JSON.parse(out).unmatchedReports).toBeUndefined();
  });
});

describe('the last look before a request', () => {
  it('halts where a request is not redirected', async () => {
    project.write('handbill.yaml', yaml('redirect: "+447700900009"'));
    const { campaign } = await loadCampaign('texts', { cwd: project.root });
    const plan = await createPlan(campaign, { environment: 'staging', occurrence: 'once', nowMs: Date.now() });
    const broken = {
      ...plan,
      expander: (startMs: number) => createExpander(campaign, plan.environment, plan.referenceOf, { startMs }),
    };
    const options = { cwd: project.root, env: KEY, now: Date.now, environment: 'staging', confirm: async () => true };
    const { report } = await sendPlan(broken, { ...options, concurrency: 1 }, createMemory());
    expect([report.halt?.rule, report.totals.pending, bodies]).toEqual(['invalid-request', 3, []]);
  });

  it('halts, with nothing sent, where every rule before it failed', async () => {
    const { campaign } = await loadCampaign('texts', { cwd: project.root });
    const plan = await createPlan(campaign, { environment: 'staging', occurrence: 'once', nowMs: Date.now() });
    if (plan.fence === null) throw new Error('it has a fence');
    const broken = { ...plan, fence: { ...plan.fence, reaches: () => true } };
    const options = { cwd: project.root, env: KEY, now: Date.now, environment: 'staging', confirm: async () => true };
    const { report } = await sendPlan(broken, { ...options, concurrency: 1 }, createMemory());
    expect(report.halt?.rule).toBe('invalid-request');
    expect(report.totals).toMatchObject({ accepted: 1, pending: 2 });
    expect(bodies.length).toBe(1);
  });

  it.each([
    ['a number', 'e164', 'msisdn', '{"recipients":[{"msisdn":"+447700900001"}]}', true],
    ['digits', 'digits', 'msisdn', '{"recipients":[{"msisdn":"447700900001"}]}', true],
    ['00', '00', 'msisdn', '{"recipients":[{"msisdn":"00447700900001"}]}', true],
    ['an email address', 'e164', 'email', '{"recipients":[{"email":"ANN@example.com"}]}', true],
    ['another number', 'e164', 'msisdn', '{"recipients":[{"msisdn":"+447700900003"}]}', false],
    [
      'one of several',
      'e164',
      'msisdn',
      '{"recipients":[{"msisdn":"+447700900001"},{"msisdn":"+447700900003"}]}',
      false,
    ],
    ['a contact', 'e164', 'contact', '{"addressBook":{"contacts":[{"id":"ann"}]}}', false],
    ['a contact where numbers are asked for', 'e164', 'msisdn', '{"addressBook":{"contacts":[{"id":"ann"}]}}', false],
    ['no recipient', 'e164', 'msisdn', '{"body":{}}', false],
    ['a recipient without an address', 'e164', 'msisdn', '{"recipients":[{"to":"+447700900001"}]}', false],
    [
      'one of several without an address',
      'e164',
      'msisdn',
      '{"recipients":[{"msisdn":"+447700900001"},{"to":"+447700900003"}]}',
      false,
    ],
    ['no JSON', 'e164', 'msisdn', 'recipients=%2B447700900001', false],
  ] as const)('%s', async (_, msisdn, address, body, holds) => {
    expect(await isHeld({ msisdn, address }, body)).toBe(holds);
  });
});

/** Whether the fence holds a request with these bytes, for a provider that writes numbers like that. */
async function isHeld(
  { msisdn, address }: { readonly msisdn: NumberForm; readonly address: AddressForm },
  body: string,
): Promise<boolean> {
  const { campaign } = await loadCampaign('texts', { cwd: project.root });
  const environment = campaign.project.environments.get('staging');
  if (environment === undefined) throw new Error('there is staging');
  const fence = await openFence(environment, campaign.project);
  const file = requestFor(environment.provider, 'sms', 'text', address);
  if (fence === null || file === null) throw new Error('it has a fence and a form');
  const addressesIn = createAddressReader(file, address, msisdn);
  const form = {
    url: '',
    path: '',
    contentType: 'application/json',
    countsDown: false,
    write: () => body,
    addressesIn,
  };
  return fence.holds({ reference: 'r', form, body });
}
