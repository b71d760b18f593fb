import { afterEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { ClaimRequest } from '../../src/ledger/records.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const [OLD, NEW, THIRD, OTHER] = ['+447700900101', '+447700900102', '+447700900103', '+447700900104'] as const;

/** The API refuses this number. */
let refused = '';
const api = useApi((body, number) =>
  refused !== '' && body.includes(refused)
    ? { status: 422, body: '{"error":"no such number"}' }
    : { status: 202, body: JSON.stringify({ id: `m-${number}` }) },
);
afterEach(() => {
  refused = '';
});
const received = () => api.recipients().map(({ msisdn, metaData }) => ({ to: msisdn, reference: metaData.handbill }));

function list(ann: string, ben: string = OTHER): string {
  return `id,msisdn,name\n1,${ann},Ann\n2,${ben},Ben\n`;
}

function project(): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: id }\n',
    'hello/people.csv': list(OLD),
  });
}

function options(here: TestProject): SendOptions {
  return {
    cwd: here.root,
    env: { KEY: 'secret' },
    now: () => NOON,
    random: () => 0,
    environment: 'api',
    confirm: async () => true,
  };
}

const tos = (): readonly string[] =>
  received()
    .map(({ to }) => to)
    .sort();

const AT = { env: { KEY: 'secret' }, now: () => NOON, width: 400 };

async function decisionsOf(here: TestProject): Promise<readonly Record<string, unknown>[]> {
  const { out } = await handbillHere(here.root, ['preview', 'hello', '--env', 'api', '--format', 'jsonl'], AT);
  return jsonLines<Record<string, unknown>>(out);
}

async function recordsOf(here: TestProject): Promise<readonly Record<string, unknown>[]> {
  const { out } = await handbillHere(here.root, ['report', 'hello', '--format', 'jsonl'], AT);
  return jsonLines<Record<string, unknown>>(out);
}

/** A campaign that was sent, then its list corrected. */
async function corrected(here: TestProject): Promise<void> {
  await send('hello', options(here));
  here.write('hello/people.csv', list(NEW));
}

describe('an address that was corrected after the message had gone out', () => {
  it('is said by preview, send and report, and nothing more is sent by itself', async () => {
    using here = project();
    await corrected(here);
    expect((await decisionsOf(here))[0]).toMatchObject({ decision: 'done', to: NEW, sentTo: OLD });
    const shown = await handbillHere(here.root, ['preview', 'hello', '--env', 'api'], AT);
    expect(shown.out).toContain(`done (accepted): sent to ${OLD}; the list now says ${NEW}`);
    expect(shown.err).toContain('address-changed');
    const page = await handbillHere(here.root, ['preview', 'hello', '--env', 'api', '--format', 'html'], AT);
    expect(page.out).toContain(`sent to ${OLD}; the list now says ${NEW}`);

    const sent = await handbillHere(
      here.root,
      ['send', 'hello', '--env', 'api', '--yes', '--allow', 'input-changed'],
      AT,
    );
    expect(sent.status).toBe(0);
    expect(sent.out).toContain('sent to +44••••••0101; the list now says +44••••••0102');
    expect(sent.out).toContain('--retry corrected');
    const json = await handbillHere(here.root, ['send', 'hello', '--env', 'api', '--yes', '--format', 'json'], AT);
    expect(json.err).toMatch(/address-changed[\s\S]*line 2: sent to \+44•+0101; the list now says \+44•+0102/);
    expect(JSON.parse(json.out)).toMatchObject({
      changed: [{ line: 2, key: '1', to: OLD, listTo: NEW, outcome: 'accepted', sentBefore: false }],
    });
    expect((await recordsOf(here))[0]).toMatchObject({ key: '1', to: OLD, listTo: NEW, outcome: 'accepted' });
    const report = await handbillHere(here.root, ['report', 'hello'], AT);
    expect(report.out).toContain('--retry corrected');
    expect(tos()).toEqual([OLD, OTHER]);
  });

  it('gets the message once, with a reference of its own, and the first message stays in the report', async () => {
    using here = project();
    await corrected(here);
    const first = received()[0]?.reference;
    await send('hello', { ...options(here), allow: ['input-changed'] });
    const asked: unknown[] = [];
    const confirm: SendOptions['confirm'] = async ({ resends }) => {
      asked.push(resends);
      return true;
    };
    const { report } = await send('hello', { ...options(here), retry: 'corrected', confirm });
    expect(asked).toMatchObject([[{ line: 2, to: OLD, listTo: NEW }]]);
    expect(report).toMatchObject({ state: 'finished', totals: { recipients: 2, accepted: 2 } });
    expect(report.changed).toBeUndefined();
    expect(
      received()
        .slice(2)
        .map(({ to }) => to),
    ).toEqual([NEW]);
    expect(received()[2]?.reference).not.toBe(first);
    const [record] = await recordsOf(here);
    expect(record).toMatchObject({
      to: NEW,
      outcome: 'accepted',
      reference: received()[2]?.reference,
      messageId: 'm-3',
      earlier: [{ to: OLD, reference: first, messageId: 'm-1' }],
    });
    expect(await send('hello', { ...options(here), retry: 'corrected' })).toMatchObject({ started: false, posted: 0 });
    expect((await decisionsOf(here))[0]).not.toHaveProperty('sentTo');
    expect(received()).toHaveLength(3);
  });

  it('is asked about before anything is changed, also in the sandbox', async () => {
    using here = project();
    const sandbox = { ...options(here), environment: 'sandbox' };
    await send('hello', sandbox);
    here.write('hello/people.csv', list(NEW));
    const no = { ...sandbox, allow: ['input-changed'], retry: 'corrected', confirm: async () => false } as const;
    await expect(send('hello', no)).rejects.toMatchObject({ exit: 2 });
    expect((await send('hello', { ...sandbox, allow: ['input-changed'] })).report.changed).toMatchObject([
      { listTo: NEW },
    ]);
    const yes = await send('hello', { ...sandbox, retry: 'corrected' });
    expect(yes.posted).toBe(1);
  });

  it('is corrected and asked for in one start', async () => {
    using here = project();
    await corrected(here);
    const { report } = await send('hello', { ...options(here), allow: ['input-changed'], retry: 'corrected' });
    expect(report.totals).toMatchObject({ accepted: 2 });
    expect(tos()).toEqual([OLD, NEW, OTHER]);
  });

  it('is not sent to a second time when the list goes back and forth', async () => {
    using here = project();
    await corrected(here);
    for (const address of [NEW, OLD, NEW, THIRD, OLD, NEW]) {
      here.write('hello/people.csv', list(address));
      await send('hello', { ...options(here), allow: ['input-changed'], retry: 'corrected' });
      await send('hello', { ...options(here), retry: 'corrected' });
    }
    expect(tos()).toEqual([OLD, NEW, THIRD, OTHER]);
    expect(new Set(received().map(({ reference }) => reference)).size).toBe(4);
    const { out } = await handbillHere(here.root, ['report', 'hello'], AT);
    expect(out).toContain('Both addresses were sent to');
    const [record] = await recordsOf(here);
    expect(record).toMatchObject({ to: THIRD, listTo: NEW, earlier: [{ to: OLD }, { to: NEW }] });
  });

  it('counts as refused where the API refuses it, in the send and in each later report', async () => {
    using here = project();
    await corrected(here);
    refused = NEW;
    const again = ['send', 'hello', '--env', 'api', '--yes', '--allow', 'input-changed', '--retry', 'corrected'];
    const sent = await handbillHere(here.root, again, AT);
    const text = 'The API refused the second message to 1 recipient: the outcome of the first one counts.';
    expect(`${sent.out}${sent.err}`).toContain(text);
    expect((await handbillHere(here.root, ['report', 'hello'], AT)).out).toContain(text);
    const { out } = await handbillHere(here.root, ['report', 'hello', '--format', 'json'], AT);
    expect(JSON.parse(out)).toMatchObject({ totals: { accepted: 2 }, secondMessages: { refused: 1, failed: 0 } });
  });

  it('counts as not sent where the API could not be reached', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here, { row: 0, step: 0, to: NEW, key: '1' });
    const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
    const [run] = ledger.runs();
    if (run === undefined) throw new Error('the ledger holds a run');
    const facts = { reason: 'connect', attempts: 2, httpStatus: null, messageId: null, error: null } as const;
    ledger.commit(run, [{ row: 0, step: 0, from: 'claimed', state: 'failed', ...facts }], [], NOON);
    ledger.finish(run, { state: 'partial', halt: null, figures: run.figures ?? {}, nowMs: NOON });
    ledger.close();
    const { out } = await handbillHere(here.root, ['report', 'hello'], AT);
    expect(out).toContain('The second message to 1 recipient was not sent: the API could not be reached.');
    expect(out).not.toContain('Nothing was sent to 1 recipient');
    expect((await send('hello', options(here))).report).toMatchObject({ totals: { accepted: 2, failed: 0 } });
    expect(tos()).toEqual([OLD, NEW, OTHER]);
  });

  it('obeys the suppression of the new address', async () => {
    using here = project();
    await corrected(here);
    await handbillHere(here.root, ['suppress', 'add', NEW], AT);
    const { report } = await send('hello', { ...options(here), allow: ['input-changed'], retry: 'corrected' });
    expect(tos()).toEqual([OLD, OTHER]);
    // The message that was accepted is what counts again.
    expect(report).toMatchObject({ state: 'finished', totals: { accepted: 2, skipped: 0 } });
    expect(report.changed).toMatchObject([{ outcome: 'accepted', sentBefore: false }]);
  });

  it('is forgotten as a wish where the list is amended before it went out', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here);
    here.write('hello/people.csv', list(OLD));
    const { report } = await send('hello', { ...options(here), allow: ['input-changed'] });
    expect(report).toMatchObject({ state: 'finished', totals: { accepted: 2 } });
    expect(report.changed).toBeUndefined();
    expect(tos()).toEqual([OLD, OTHER]);
  });

  it('goes out with the next start where the first was killed before the claim, as the preview shows it', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here);
    const shown = await previewRows('hello', { cwd: here.root, env: {}, now: () => NOON, environment: 'api' });
    const bodies: string[] = [];
    for await (const batch of shown.batches)
      for (const { request } of batch) if (request !== null) bodies.push(request.body);
    shown.close();
    const { report } = await send('hello', options(here));
    expect(report.totals).toMatchObject({ accepted: 2 });
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain(`"handbill":"${received()[2]?.reference}"`);
    expect(tos()).toEqual([OLD, NEW, OTHER]);
  });

  it('is in doubt where the process was killed behind the claim, and nothing sends it again by itself', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here, { row: 0, step: 0, to: NEW, key: '1' });
    for (const more of [{ retry: 'corrected' }, {}] as const) {
      const { exit, report } = await send('hello', { ...options(here), ...more });
      expect([exit, report.totals.inDoubt]).toEqual([4, 1]);
    }
    expect(tos()).toEqual([OLD, OTHER]);
    here.write('hello/people.csv', list(THIRD));
    const { report } = await send('hello', { ...options(here), allow: ['input-changed'], retry: 'corrected' });
    expect(report.changed).toMatchObject([{ to: NEW, listTo: THIRD, outcome: 'in-doubt' }]);
    expect(tos()).toEqual([OLD, OTHER]);
  });

  it('counts as before, and is not sent to again, where a person says that the second message did not arrive', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here, { row: 0, step: 0, to: NEW, key: '1' });
    here.write('hello/people.csv', list(OLD));
    await send('hello', { ...options(here), allow: ['input-changed'] });
    const resolve = ['doubt', 'resolve', '--line', '2', '--yes', '--by', 'me'];
    const [run] = (
      JSON.parse((await handbillHere(here.root, ['runs', '--format', 'json'], AT)).out) as { runs: { run: string }[] }
    ).runs;
    const again = [...resolve, run?.run ?? '', '--resend', '--accept-duplicates'];
    const refused = await handbillHere(here.root, again, AT);
    expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('got an earlier message')]);
    expect((await handbillHere(here.root, [...resolve, run?.run ?? '', '--as', 'rejected'], AT)).status).toBe(0);
    const { report } = await send('hello', { ...options(here), retry: 'rejected' });
    expect(report.totals).toMatchObject({ accepted: 2, rejected: 0 });
    expect(tos()).toEqual([OLD, OTHER]);
  });

  it('is in doubt again, and not sent to where the first message went, if the list goes back before a second try', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here, { row: 0, step: 0, to: NEW, key: '1' });
    const again = [
      'doubt',
      'resolve',
      'hello',
      '--line',
      '2',
      '--resend',
      '--accept-duplicates',
      '--yes',
      '--by',
      'me',
    ];
    expect((await handbillHere(here.root, again, AT)).status).toBe(0);
    here.write('hello/people.csv', list(OLD));
    const { exit, report } = await send('hello', { ...options(here), allow: ['input-changed'] });
    expect([exit, report.totals]).toMatchObject([4, { accepted: 1, inDoubt: 1 }]);
    expect(report.changed).toMatchObject([{ to: NEW, listTo: OLD, outcome: 'in-doubt', sentBefore: true }]);
    expect(tos()).toEqual([OLD, OTHER]);
  });

  it('keeps its number where the list is amended before a second try', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    pendingAt(here, { row: 0, step: 0, to: NEW, key: '1' });
    const again = [
      'doubt',
      'resolve',
      'hello',
      '--line',
      '2',
      '--resend',
      '--accept-duplicates',
      '--yes',
      '--by',
      'me',
    ];
    await handbillHere(here.root, again, AT);
    const { out } = await handbillHere(here.root, ['preview', 'hello', '--env', 'api', '--format', 'jsonl'], AT);
    const [shown] = jsonLines<{ request: { body: { recipients: { metaData: { handbill: string } }[] } } }>(out);
    here.write('hello/people.csv', `${list(NEW)}3,+447700900109,Cid\n`);
    await send('hello', { ...options(here), allow: ['input-changed'] });
    const posted = received().find(({ to }) => to === NEW);
    expect(posted?.reference).toBe(shown?.request.body.recipients[0]?.metaData.handbill);
    expect(posted?.reference).not.toBe(received()[0]?.reference);
  });

  it('is forgotten with everything else when personal data is taken out', async () => {
    using here = project();
    await corrected(here);
    await send('hello', { ...options(here), allow: ['input-changed'], retry: 'corrected' });
    here.write('hello/people.csv', list(THIRD));
    await send('hello', { ...options(here), allow: ['input-changed'] });
    const later = { ...AT, now: () => NOON + 100 * 24 * 3_600_000 };
    expect((await handbillHere(here.root, ['purge', '--older-than', '90d', '--yes'], later)).status).toBe(0);
    const bytes = [...here.contents()].filter(([name]) => name.includes('.handbill')).map(([, content]) => content);
    for (const address of [OLD, NEW, THIRD]) expect(bytes.some((one) => one.includes(address))).toBe(false);
    expect((await handbillHere(here.root, ['report', 'hello'], later)).status).toBe(0);
  });
});

/** As a start leaves it that was killed after the wish was written, or behind a claim. */
function pendingAt(here: TestProject, claim?: ClaimRequest): void {
  const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
  const [run] = ledger.runs();
  if (run === undefined) throw new Error('the ledger holds a run');
  expect(ledger.reopenCorrected(run, NOON)).toBe(1);
  expect(ledger.reopenCorrected(run, NOON)).toBe(0);
  const started = ledger.start(run, NOON).run;
  if (claim !== undefined) expect(ledger.commit(started, [], [claim], NOON)).toEqual(['claimed']);
  ledger.close();
}
