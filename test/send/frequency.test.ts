import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { plan } from '../../src/operations/plan.ts';
import { createCampaigns } from './other-campaigns.ts';

const [ADA, BEN, CID] = ['+447400100001', '+447400100002', '+447400100003'];
const IN_LONDON = 'timeZone: Europe/London\n';

describe('a cap over two campaigns', () => {
  it('counts what both were sent, and is shown before it is sent', async () => {
    using here = createCampaigns('defaults: { frequency: { max: 1, per: day } }\n');
    here.campaign('one', IN_LONDON, [ADA, BEN]);
    here.campaign('two', IN_LONDON, [BEN, CID]);
    expect(await here.previewed('two', '2026-11-21T09:00:00Z')).toEqual(['send', 'send']);
    expect(here.totals(await here.send('one', '2026-11-21T09:00:00Z'))).toEqual({ accepted: 2 });
    expect(await here.previewed('two', '2026-11-21T10:00:00Z')).toEqual([
      'frequency-cap: 1 message since 2026-11-21 00:00 in Europe/London',
      'send',
    ]);
    const second = await here.send('two', '2026-11-21T10:00:00Z');
    expect(here.totals(second)).toEqual({ accepted: 1, 'frequency-cap': 1 });
    expect(second).toMatchObject({ exit: 0, report: { state: 'finished' } });
    // It is final: the next start does not try again, tomorrow neither.
    const again = await here.send('two', '2026-11-22T10:00:00Z');
    expect(here.totals(again)).toEqual({ accepted: 1, 'frequency-cap': 1 });
  });

  it('does not ask about a recipient who waits for an opening: the cap is asked on the day on which they would be sent to', async () => {
    using here = createCampaigns('defaults: { frequency: { max: 1, per: day } }\n');
    here.campaign('one', IN_LONDON, [ADA, BEN]);
    here.campaign('two', `${IN_LONDON}send: { window: { from: "09:00", to: "20:00" } }\n`, [ADA, BEN]);
    await here.send('one', '2026-11-21T19:00:00Z');
    expect(await here.previewed('two', '2026-11-21T19:30:00Z')).toEqual([
      'frequency-cap: 1 message since 2026-11-21 00:00 in Europe/London',
      'frequency-cap: 1 message since 2026-11-21 00:00 in Europe/London',
    ]);
    const evening = await here.send('two', '2026-11-21T21:00:00Z');
    expect(evening.report).toMatchObject({ totals: { deferred: 2, skipped: 0 } });
    expect(here.totals(await here.send('two', '2026-11-22T09:00:00Z'))).toEqual({ accepted: 2 });
  });

  it('of several the first that is used up counts; its own earlier messages of this run do not', async () => {
    using here = createCampaigns();
    for (const [i, day] of ['16', '17'].entries()) {
      here.campaign(`w${i}`, '', i === 0 ? [ADA] : [ADA, BEN]);
      await here.send(`w${i}`, `2026-11-${day}T09:00:00Z`);
    }
    here.campaign('more', 'frequency: [{ max: 1, per: day }, { max: 2, per: week }]', [ADA, BEN]);
    // The 16th is a Monday, and the campaign's zone is UTC where a number says nothing else; these say London.
    expect(await here.previewed('more', '2026-11-18T09:00:00Z')).toEqual([
      'frequency-cap: 2 messages since 2026-11-16 00:00 in Europe/London',
      'send',
    ]);
    expect(await here.previewed('more', '2026-11-23T00:00:00Z')).toEqual(['send', 'send']);
    expect(here.totals(await here.send('more', '2026-11-18T09:00:00Z'))).toEqual({ accepted: 1, 'frequency-cap': 1 });
    here.campaign('rest', 'frequency: { max: 3, per: month }', [ADA, BEN]);
    expect(await here.previewed('rest', '2026-11-30T23:59:59Z')).toEqual(['send', 'send']);
  });

  it('does not count other environments, and neither who is exempt nor what they were sent', async () => {
    using here = createCampaigns('defaults: { frequency: { max: 1, per: 24h } }\n');
    here.campaign('code', 'frequency: exempt', [ADA]);
    here.campaign('news', '', [ADA]);
    here.campaign('free', 'frequency: none', [ADA]);
    await here.send('code', '2026-11-21T09:00:00Z');
    expect(here.totals(await here.send('news', '2026-11-21T09:01:00Z'))).toEqual({ accepted: 1 });
    expect(here.totals(await here.send('news', '2026-11-21T09:02:00Z', { occurrence: 'b' }))).toEqual({
      accepted: 0,
      'frequency-cap': 1,
    });
    expect(here.totals(await here.send('code', '2026-11-21T09:03:00Z', { occurrence: 'b' }))).toEqual({ accepted: 1 });
    // `none` is free of the cap, and counts.
    expect(here.totals(await here.send('free', '2026-11-21T09:04:00Z'))).toEqual({ accepted: 1 });
    expect(await here.previewed('news', '2026-11-22T09:03:00Z', 'c')).toEqual([
      'frequency-cap: 1 message since 2026-11-21 09:03 in UTC',
    ]);
  });
});

describe('a rolling period', () => {
  it('ends now, and is as long as it says, to the millisecond', async () => {
    using here = createCampaigns();
    here.campaign('one', '', [ADA]);
    here.campaign('two', 'frequency: { max: 1, per: 24h }', [ADA]);
    await here.send('one', '2026-11-21T09:00:00Z');
    expect(await here.previewed('two', '2026-11-22T08:59:59.999Z')).not.toEqual(['send']);
    expect(await here.previewed('two', '2026-11-22T09:00:00Z')).toEqual(['send']);
    expect(here.totals(await here.send('two', '2026-11-22T08:59:59.999Z'))).toEqual({
      accepted: 0,
      'frequency-cap': 1,
    });
  });
});

describe('a calendar day', () => {
  // One message for all three at one instant; then their days end one after the other.
  const PEOPLE = ['+81312345678', '+447400100001', '+12125550123'];

  it('is that of each person, in three zones', async () => {
    using here = createCampaigns();
    here.campaign('one', '', PEOPLE);
    here.campaign('two', 'frequency: { max: 1, per: day }', PEOPLE);
    await here.send('one', '2026-11-21T12:00:00Z');
    const free = async (at: string) => (await here.previewed('two', at)).map((text) => text === 'send');
    expect(await free('2026-11-21T14:59:59Z')).toEqual([false, false, false]);
    // Tokyo, London, New York.
    expect(await free('2026-11-21T15:00:00Z')).toEqual([true, false, false]);
    expect(await free('2026-11-21T23:59:59Z')).toEqual([true, false, false]);
    expect(await free('2026-11-22T00:00:00Z')).toEqual([true, true, false]);
    expect(await free('2026-11-22T04:59:59Z')).toEqual([true, true, false]);
    expect(await free('2026-11-22T05:00:00Z')).toEqual([true, true, true]);
    expect(await here.previewed('two', '2026-11-21T12:00:00Z')).toEqual([
      'frequency-cap: 1 message since 2026-11-21 00:00 in Asia/Tokyo',
      'frequency-cap: 1 message since 2026-11-21 00:00 in Europe/London',
      'frequency-cap: 1 message since 2026-11-21 00:00 in America/New_York',
    ]);
    // What is shown is what happens.
    expect(here.totals(await here.send('two', '2026-11-22T00:00:00Z'))).toEqual({ accepted: 2, 'frequency-cap': 1 });
  });

  it.each([
    // The clocks go forward at 01:00 UTC: 23 hours.
    ['spring', '2026-03-29T00:00:00Z', '2026-03-29T22:59:59.999Z', '2026-03-29T23:00:00Z'],
    // They go back at 01:00 UTC: 25 hours, from 23:00 UTC of the day before.
    ['autumn', '2026-10-24T23:00:00Z', '2026-10-25T23:59:59.999Z', '2026-10-26T00:00:00Z'],
  ])('is as long as it is on the night of the clocks in %s', async (_, sentAt, lastMoment, nextDay) => {
    using here = createCampaigns();
    here.campaign('one', '', [ADA]);
    here.campaign('two', 'frequency: { max: 1, per: day }', [ADA]);
    await here.send('one', sentAt);
    expect(await here.previewed('two', lastMoment)).not.toEqual(['send']);
    expect(await here.previewed('two', nextDay)).toEqual(['send']);
    expect(here.totals(await here.send('two', lastMoment))).toEqual({ accepted: 0, 'frequency-cap': 1 });
    expect(here.totals(await here.send('two', nextDay, { occurrence: 'b' }))).toEqual({ accepted: 1 });
  });

  it('of a number that may be in several zones has begun when it began in the first, and is over when it is in all', async () => {
    using here = createCampaigns();
    // A mobile number of Portugal: in Lisbon days begin at 00:00 UTC, on the Azores at 01:00.
    const mobile = '+351912345678';
    for (const name of ['one', 'late']) here.campaign(name, '', [mobile]);
    here.campaign('two', 'frequency: { max: 1, per: day }', [mobile]);
    await here.send('one', '2026-11-21T10:00:00Z');
    const capped = ['frequency-cap: 1 message since 2026-11-21 00:00 in Atlantic/Azores'];
    expect(await here.previewed('two', '2026-11-22T00:59:59Z')).toEqual(capped);
    expect(await here.previewed('two', '2026-11-22T01:00:00Z')).toEqual(['send']);
    await here.send('late', '2026-11-22T00:30:00Z');
    const since = ['frequency-cap: 1 message since 2026-11-22 00:00 in Europe/Lisbon'];
    expect(await here.previewed('two', '2026-11-22T12:00:00Z')).toEqual(since);
  });
});

describe('exclude', () => {
  it('leaves out recipients that another campaign, or one occurrence of it, reached', async () => {
    using here = createCampaigns();
    here.campaign('one', '', [ADA]);
    await here.send('one', '2026-11-01T09:00:00Z', { occurrence: 'may' });
    here.campaign('one', '', [BEN]);
    await here.send('one', '2026-11-01T09:00:00Z', { occurrence: 'june' });
    here.campaign('any', 'exclude: one', [ADA, BEN, CID]);
    here.campaign('may', 'exclude: [one@may, one@never]', [ADA, BEN, CID]);
    const at = '2026-11-21T09:00:00Z';
    expect(await here.previewed('any', at)).toEqual([
      'excluded: reached by one@may',
      'excluded: reached by one@june',
      'send',
    ]);
    expect(await here.previewed('may', at)).toEqual(['excluded: reached by one@may', 'send', 'send']);
    expect(here.totals(await here.send('any', at))).toEqual({ accepted: 1, excluded: 2 });
    expect(here.totals(await here.send('may', at))).toEqual({ accepted: 2, excluded: 1 });
  });

  it('of itself means its other occurrences, and not what it sent in this one', async () => {
    using here = createCampaigns();
    here.campaign('self', 'exclude: self', [ADA, BEN]);
    expect(here.totals(await here.send('self', '2026-11-21T09:00:00Z', { limit: 1 }))).toEqual({ accepted: 1 });
    expect(await here.previewed('self', '2026-11-21T10:00:00Z')).toEqual(['done', 'send']);
    expect(await here.previewed('self', '2026-11-21T10:00:00Z', 'b')).toEqual([
      'excluded: reached by self@once',
      'send',
    ]);
    expect(here.totals(await here.send('self', '2026-11-21T10:00:00Z'))).toEqual({ accepted: 2 });
    expect(here.totals(await here.send('self', '2026-11-22T10:00:00Z', { occurrence: 'b' }))).toEqual({
      accepted: 0,
      excluded: 2,
    });
  });

  it('of an unknown campaign is refused, by preview too; of one that only the ledger knows it is not', async () => {
    using here = createCampaigns();
    here.campaign('spring', '', [ADA]);
    here.campaign('news', 'exclude: sprong@once', [ADA]);
    const at = '2026-11-21T09:00:00Z';
    const refusal = {
      exit: 2,
      code: 'campaign-not-found',
      diagnostics: [{ at: { line: 6 }, hint: 'Did you mean "spring"?' }],
    };
    await expect(here.previewed('news', at)).rejects.toMatchObject(refusal);
    await expect(here.send('news', at)).rejects.toMatchObject(refusal);
    await here.send('spring', at);
    await expect(here.send('news', at)).rejects.toMatchObject(refusal);
    here.campaign('news', 'exclude: spring', [ADA]);
    here.write('campaigns/spring/campaign.yaml', '# moved\n');
    expect(here.totals(await here.send('news', at))).toEqual({ accepted: 0, excluded: 1 });
  });
});

it('an occurrence that was never sent is reported, in case it is a slip', async () => {
  using here = createCampaigns();
  here.campaign('spring', '', [ADA]);
  here.campaign('news', 'exclude: [spring@junne, spring@june, spring@4]', [ADA, BEN]);
  await here.send('spring', '2026-11-21T09:00:00Z', { occurrence: 'june' });
  const said: unknown[] = [];
  await here.send('news', '2026-11-21T10:00:00Z', {
    onEvent: (event) => void (event.kind === 'warnings' && said.push(...event.warnings)),
  });
  const at = { file: 'campaigns/news/campaign.yaml', line: 6 };
  expect(said).toMatchObject([
    { code: 'run-not-found', severity: 'warning', hint: 'Did you mean "june"?', at: { ...at, column: 11 } },
    { code: 'run-not-found', at: { ...at, column: 38 }, hint: 'Occurrences that were sent: june.' },
  ]);
});

it('a plan counts the recipients that it would send to', async () => {
  using here = createCampaigns();
  here.campaign('one', '', [ADA]);
  here.campaign('two', 'exclude: one', [ADA, BEN]);
  const count = async () => {
    const { estimate } = await plan('two', { cwd: here.root, now: () => Date.parse('2026-11-21T10:00:00Z') });
    return estimate.send;
  };
  expect(await count()).toBe(2);
  await here.send('one', '2026-11-21T09:00:00Z');
  expect(await count()).toBe(1);
});

it('a rule that asks about a run whose personal data was purged is refused', async () => {
  using here = createCampaigns();
  here.campaign('one', '', [ADA]);
  await here.send('one', '2026-11-01T09:00:00Z');
  const ledger = openLedger(here.path('.handbill/ledger.db'), { mode: 'write', nowMs: Date.parse('2026-11-20') });
  const run = ledger.runs()[0];
  if (run === undefined) throw new Error('nothing was sent');
  for (const _ of ledger.purge.clear(ledger.purge.mark(run, Date.parse('2026-11-20'))));
  ledger.close();
  here.campaign('two', 'exclude: one', [ADA]);
  here.campaign('month', 'frequency: { max: 1, per: month }', [ADA]);
  here.campaign('week', 'frequency: { max: 1, per: week }', [ADA]);
  const at = '2026-11-21T09:00:00Z';
  for (const name of ['two', 'month']) {
    await expect(here.previewed(name, at)).rejects.toMatchObject({ exit: 2, code: 'run-purged' });
    await expect(here.send(name, at)).rejects.toMatchObject({ exit: 2, code: 'run-purged' });
  }
  await expect(here.previewed('two', at)).rejects.toMatchObject({ diagnostics: [{ at: { line: 6, column: 10 } }] });
  expect(here.totals(await here.send('week', at))).toEqual({ accepted: 1 });
});

it('a run that continues sees what others sent in between', async () => {
  using here = createCampaigns('defaults: { frequency: { max: 1, per: day } }\n');
  here.campaign('one', '', [ADA, BEN, CID]);
  here.campaign('two', '', [BEN]);
  await here.send('one', '2026-11-21T09:00:00Z', { limit: 1 });
  await here.send('two', '2026-11-21T10:00:00Z');
  expect(await here.previewed('one', '2026-11-21T11:00:00Z')).toMatchObject([
    'done',
    expect.stringContaining('frequency-cap'),
    'send',
  ]);
  expect(here.totals(await here.send('one', '2026-11-21T11:00:00Z'))).toEqual({ accepted: 2, 'frequency-cap': 1 });
});
