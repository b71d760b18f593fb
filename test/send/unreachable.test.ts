import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plan } from '../../src/operations/plan.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { reconcile } from '../../src/operations/reconcile.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { removeSuppressions } from '../../src/operations/suppress-change.ts';
import { handbillHere } from '../cli/in-process.ts';
import { deliveryOf, receive } from '../helpers/events.ts';
import { type Api, startApi } from '../processes/api.ts';
import { type Campaigns, createCampaigns } from './other-campaigns.ts';

const [ADA, BEN] = ['+447400100001', '+447400100002'];
const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const FILE = readFileSync(new URL('../../src/providers/messages-v2.yaml', import.meta.url), 'utf8');
const PROVIDER = 'providers/own.yaml';
const RULE = 'suppressions: { unreachable: { after: 3, within: 180d } }\n';
const LATER = '2026-12-01T09:00:00Z';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => await api[Symbol.asyncDispose]());

/** Its provider says with the code 30005 that a number is out of use. */
function project(rules = RULE): Campaigns {
  const production = `{ provider: ./${PROVIDER}, baseUrl: "${api.url}", secrets: { apiKey: { env: HANDBILL_TEST_KEY } } }`;
  const here = createCampaigns(`environments: { production: ${production} }\n${rules}`);
  here.write('optouts.csv', 'msisdn\n+447400100009\n');
  here.write(PROVIDER, `${FILE}reports: { permanent: [30005] }\n`);
  return here;
}

const sent = async (here: Campaigns, name: string, at: string, more: Partial<SendOptions> = {}) =>
  here.totals(await here.send(name, at, { env: KEY, environment: 'production', confirm: true, ...more }));

const previewed = (here: Campaigns, name: string, at: string) => here.previewed(name, at, 'once', 'production');

type Said = readonly [status: string, code: string];

/** At ten in the morning. */
async function reported(here: Campaigns, to: string, days: readonly string[], [status, code]: Said): Promise<void> {
  for (const day of days) {
    const event = { messageId: `${to} ${day}`, to, status, error: { code }, timestamp: `${day}T10:00:00Z` };
    const input = Readable.from([Buffer.from(`${JSON.stringify(event)}\n`)]);
    const now = () => Date.parse(`${day}T10:00:01Z`);
    const found = await reconcile(['-'], { cwd: here.root, env: KEY, now, input });
    expect(found.files).toMatchObject([{ reports: 1 }]);
  }
}

const GONE: Said = ['undeliverable', '30005'];
const OFF: Said = ['undeliverable', '30003'];
const DELIVERED: Said = ['delivered', '0'];

/** Ada's number is out of use since the third. */
async function givenGone(rules = RULE): Promise<Campaigns> {
  const here = project(rules);
  here.campaign('first', '', [ADA, BEN]);
  await sent(here, 'first', '2026-11-21T09:00:00Z');
  await reported(here, ADA, ['2026-11-21', '2026-11-22', '2026-11-23'], GONE);
  return here;
}

const SKIPPED = 'unreachable: 3 permanent failures, the last on 2026-11-23';

async function warningsOf(here: Campaigns, name: string): Promise<readonly string[]> {
  const shown = await previewRows(name, { cwd: here.root, environment: 'production', now: () => Date.parse(LATER) });
  try {
    for await (const _ of shown.batches);
    return shown.warnings.filter(({ code }) => code === 'no-permanent-codes').map(({ message }) => message);
  } finally {
    shown.close();
  }
}

describe('an address that failed for good three times', () => {
  it('is skipped with the reason, in the preview, the plan and the send', async () => {
    using here = await givenGone();
    here.campaign('second', '', [ADA, BEN]);
    expect(await previewed(here, 'second', LATER)).toEqual([SKIPPED, 'send']);
    const planned = await plan('second', {
      cwd: here.root,
      env: KEY,
      environment: 'production',
      now: () => Date.parse(LATER),
    });
    expect(planned.estimate).toMatchObject({ send: 1, skipped: { unreachable: 1 } });
    expect(await sent(here, 'second', LATER)).toEqual({ accepted: 1, unreachable: 1 });
    expect(await warningsOf(here, 'second')).toEqual([]);
  });

  it('is sent to while fewer reports are permanent, and when the time of the rule is over', async () => {
    using here = project();
    here.campaign('second', '', [ADA, BEN]);
    await sent(here, 'second', '2026-11-20T09:00:00Z', { occurrence: 'before' });
    await reported(here, ADA, ['2026-11-21', '2026-11-22'], GONE);
    await reported(here, ADA, ['2026-11-23', '2026-11-24', '2026-11-25'], OFF);
    expect(await previewed(here, 'second', LATER)).toEqual(['send', 'send']);
    await reported(here, ADA, ['2026-11-26'], GONE);
    expect(await previewed(here, 'second', LATER)).toEqual([SKIPPED.replace('23', '26'), 'send']);
    expect(await previewed(here, 'second', '2027-05-20T10:00:00Z')).toEqual(['send', 'send']);
  });

  it('is sent to again after a delivery, or once a person takes it off the list', async () => {
    using here = await givenGone();
    here.campaign('second', '', [ADA]);
    const options = { cwd: here.root, env: {}, now: () => Date.parse(LATER) };
    expect(await removeSuppressions([ADA, BEN], { ...options, topic: 'offers' })).toMatchObject({
      removed: 0,
      absent: 2,
    });
    expect(await removeSuppressions([ADA, BEN], options)).toEqual({ removed: 0, dismissed: 1, absent: 1 });
    expect(await previewed(here, 'second', LATER)).toEqual(['send']);
    await reported(here, ADA, ['2026-12-02', '2026-12-03', '2026-12-04'], GONE);
    expect(await previewed(here, 'second', '2026-12-05T09:00:00Z')).toEqual([SKIPPED.replace('11-23', '12-04')]);
    await reported(here, ADA, ['2026-12-05'], DELIVERED);
    expect(await sent(here, 'second', '2026-12-05T11:00:00Z')).toEqual({ accepted: 1 });
  });

  it('gets the message of a run that has begun with --retry skipped, once it is in use again', async () => {
    using here = await givenGone();
    here.campaign('second', '', [ADA, BEN]);
    await sent(here, 'second', LATER);
    await reported(here, ADA, ['2026-12-02'], DELIVERED);
    const again = { retry: 'skipped' } as const;
    expect(await sent(here, 'second', '2026-12-03T09:00:00Z', again)).toEqual({ accepted: 2 });
  });

  it('gets what is essential, and what a campaign takes the rule back for', async () => {
    using here = await givenGone();
    here.campaign('login', 'topic: essential', [ADA]);
    here.campaign('once-more', 'suppressions: { unreachable: none }', [ADA]);
    here.campaign('stricter', 'suppressions: { unreachable: { after: 4, within: 180d } }', [ADA]);
    for (const name of ['login', 'once-more', 'stricter']) {
      expect(await sent(here, name, LATER)).toEqual({ accepted: 1 });
    }
  });

  it('asks the files that are named beside the rule as well', async () => {
    using here = await givenGone(`suppressions: { files: [optouts.csv], unreachable: { after: 3, within: 180d } }\n`);
    here.campaign('second', 'suppressions: { files: own.csv }', [ADA, BEN]);
    here.write('campaigns/second/own.csv', `msisdn\n${BEN}\n`);
    expect(await previewed(here, 'second', LATER)).toEqual([
      SKIPPED,
      'suppressed: on the list campaigns/second/own.csv',
    ]);
  });

  it('is asked about again in the claim: it failed once more while the campaign was sent', async () => {
    using here = project();
    here.campaign('second', 'send: { concurrency: 1 }', [BEN, ADA]);
    await sent(here, 'second', '2026-11-20T09:00:00Z', { occurrence: 'before' });
    await reported(here, ADA, ['2026-11-21', '2026-11-22'], GONE);
    let isReported = false;
    const totals = await sent(here, 'second', LATER, {
      // The first request is made: the list was read, and Ada was to be sent to.
      onEvent: ({ kind }) => {
        if (kind !== 'committed' || isReported) return;
        isReported = true;
        const gone = {
          messageId: 'a third one',
          address: ADA,
          state: 'undeliverable',
          cause: 'gone',
          error: '3',
        } as const;
        const report = deliveryOf({ ...gone, atMs: Date.parse('2026-11-30T09:00:00Z') });
        receive(here.path('.handbill/ledger.db'), [report], { nowMs: Date.parse(LATER), environment: 'production' });
      },
    });
    expect(totals).toEqual({ accepted: 1, unreachable: 1 });
  });
});

describe('the rule', () => {
  it('is off where the provider names no permanent codes, and a warning says it', async () => {
    using here = await givenGone();
    here.write(PROVIDER, FILE);
    here.campaign('second', '', [ADA]);
    expect(await previewed(here, 'second', LATER)).toEqual(['send']);
    expect(await warningsOf(here, 'second')).toEqual([
      'Messages v2, the provider of production, names no codes of permanent failures: `unreachable` skips no recipient.',
    ]);
    here.campaign('login', 'topic: essential', [ADA]);
    expect(await warningsOf(here, 'login')).toEqual([]);
  });

  it.each([
    ['{ unreachable: { after: 3 } }', 'within'],
    ['{ unreachable: { after: 0, within: 180d } }', 'at least 1'],
    ['{ unreachable: { after: 3, within: soon } }', '"soon" is not a time from 1s to 366d.'],
    ['{ unreachable: { after: 3, within: 0d } }', '"0d" is not a time from 1s'],
    ['{ unreachable: { after: 3, within: 367d } }', '"367d" is not a time from 1s to 366d.'],
    ['{ unreachable: always }', 'cannot be "always"'],
    ['{ file: optouts.csv }', 'file'],
  ])('is refused where it is wrong: %s', async (written, says) => {
    using here = createCampaigns();
    here.campaign('first', `suppressions: ${written}`, [ADA]);
    await expect(here.send('first', LATER)).rejects.toThrow(says);
  });
});

describe('people see it', () => {
  const here = async () => {
    const found = await givenGone();
    const run = async (...args: readonly string[]): Promise<string> => {
      const { out, err, status } = await handbillHere(found.root, args, { env: KEY, now: () => Date.parse(LATER) });
      expect({ status, err }).toEqual({ status: 0, err: expect.any(String) });
      return out;
    };
    return { found, run };
  };

  it('in the list of suppressions, in person and in an answer about the address', async () => {
    const { found, run } = await here();
    using _ = found;
    expect(await run('suppress', 'list', '--full')).toMatch(
      /No addresses are suppressed\.\n\n *unreachable +environment +why *\n *\+447400100001 +production +3 permanent failures, the last on 2026-11-23/,
    );
    expect(await run('suppress', 'list')).not.toContain(ADA);
    const failing = { environment: 'production', failures: 3, lastFailure: '2026-11-23T10:00:00.000Z' };
    expect(JSON.parse(await run('suppress', 'list', '--format', 'json'))).toEqual({
      version: 1,
      suppressions: [],
      hashes: [],
      unreachable: [{ address: ADA, ...failing }],
    });
    expect(await run('suppress', 'list', '--format', 'csv')).not.toContain(ADA);
    expect(await run('person', ADA)).toContain(
      'Unreachable in production: 3 permanent failures, the last on 2026-11-23',
    );
    expect(JSON.parse(await run('person', ADA, '--format', 'json'))).toMatchObject({
      suppressed: false,
      unreachable: [{ address: ADA, ...failing }],
    });
    expect(await run('suppress', 'check', ADA, BEN)).toBe(
      `${ADA}: not suppressed\n  unreachable in production: 3 permanent failures, the last on 2026-11-23\n${BEN}: not suppressed\n`,
    );
    expect(await run('suppress', 'remove', ADA)).toBe('The permanent failures of 1 address no longer count.\n');
    expect(await run('suppress', 'remove', ADA)).toBe('0 addresses removed. 1 address was not on the list.\n');
    expect(await run('suppress', 'list')).toBe('No addresses are suppressed.\n');
    expect(await run('person', ADA)).not.toContain('Unreachable');
  });

  it('in the report of a run and in its totals', async () => {
    const { found, run } = await here();
    using _ = found;
    found.campaign('second', '', [ADA, BEN]);
    await sent(found, 'second', LATER);
    expect(await run('report', 'second')).toContain('unreachable');
    expect(await run('report', 'second', '--format', 'csv')).toContain('"skipped","unreachable"');
  });
});
