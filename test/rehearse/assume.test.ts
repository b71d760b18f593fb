import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { type RehearseOptions, rehearse } from '../../src/operations/rehearse.ts';
import { stepTotals } from '../../src/report/tally.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';

/** A Monday. */
const START = Date.parse('2026-11-30T00:02:00Z');

const COUNT = 200;
const PEOPLE = `msisdn,name\n${Array.from({ length: COUNT }, (_, i) => `+44770090${String(1000 + i)},N${i}`).join('\n')}\n`;

function campaign(name: string, more: string, { channel = 'sms', text = 'Hello {{name}}' } = {}): ProjectFiles {
  return {
    [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: ${channel}\nfrom: Riverside\ntemplate: { text: "${text}" }\nrecipients: people.csv\n${more}\n`,
    [`campaigns/${name}/people.csv`]: PEOPLE,
  };
}

const ONCE = 'schedule: { at: "2026-11-30 09:00", timeZone: UTC }';

function play({ root }: TestProject, more: Partial<RehearseOptions> = {}) {
  return rehearse([], { cwd: root, env: {}, now: () => START, days: 3, ...more });
}

type Found = Awaited<ReturnType<typeof rehearse>>;

function brief({ occurrences }: Found): unknown[] {
  return occurrences.map(({ campaign: name, state, messages, reasons }) => [name, state, messages, reasons]);
}

const GATE = `${ONCE}\nsend: { canary: { steps: 50, pause: 10m, gate: { delivered: 90%, wait: 4h } } }`;

describe('the gate of a canary', () => {
  test('opens once enough messages are reported as delivered', async () => {
    using project = createProject(campaign('hello', GATE));
    const { occurrences } = await play(project, { assume: { delivered: 1 } });
    expect(occurrences[0]).toMatchObject({ state: 'finished', messages: COUNT });
    const ends = Date.parse(occurrences[0]?.ends ?? '') - Date.parse('2026-11-30T09:00:00Z');
    expect(ends / 60_000).toBeGreaterThanOrEqual(10);
    expect(ends / 60_000).toBeLessThan(15);
  });

  test('halts the run where too few are', async () => {
    using project = createProject(campaign('hello', GATE));
    const { occurrences } = await play(project, { assume: { delivered: 0 } });
    expect(occurrences[0]).toMatchObject({ state: 'halted', messages: 50, halt: { rule: 'canary' } });
    expect(occurrences[0]?.halt?.message).toContain('at most 0% of the first 50 accepted messages can be delivered');
  });

  test('waits for its time without reports, which the assumptions say', async () => {
    using project = createProject(campaign('hello', GATE));
    const { occurrences, assumed } = await play(project);
    expect(occurrences[0]?.halt?.message).toContain('50 without a final report');
    expect(assumed).toContain('No delivery reports and no replies come: `handbill rehearse --assume` lets them.');
  });
});

describe('a follow-up', () => {
  const files = (unless: string): ProjectFiles => ({
    ...campaign('hello', ONCE),
    ...campaign('nudge', `after: { campaign: hello, wait: 1d, unless: ${unless} }`),
  });

  test('is not sent to people who replied', async () => {
    using project = createProject(files('replied'));
    expect(brief(await play(project, { assume: { replied: 1 } }))).toEqual([
      ['hello', 'finished', COUNT, {}],
      ['nudge', 'finished', 0, { skipped: { 'no-follow-up': COUNT } }],
    ]);
    expect(brief(await play(project))[1]).toEqual(['nudge', 'finished', COUNT, {}]);
  });

  test('is not sent to people who were not reached', async () => {
    using project = createProject(files('delivered-not'));
    const [, nudge] = (await play(project, { assume: { delivered: 0.7 } })).occurrences;
    const unreached = nudge?.reasons?.['skipped']?.['no-follow-up'] ?? 0;
    expect((nudge?.messages ?? 0) + unreached).toBe(COUNT);
    expect(unreached).toBeGreaterThan(COUNT * 0.2);
    expect(unreached).toBeLessThan(COUNT * 0.4);
  });

  test('has the same people by the same seed, in any order, and other people by another one', async () => {
    using project = createProject(files('[replied, opted-out]'));
    using other = createProject(files('[replied, opted-out]'));
    const rows = PEOPLE.trimEnd().split('\n');
    other.write('campaigns/hello/people.csv', `${[rows[0], ...rows.slice(1).reverse()].join('\n')}\n`);
    const assume = { delivered: 0.9, replied: 0.3, optedOut: 0.1 };
    const asked = async (one: TestProject, seed: number) => {
      const people: string[] = [];
      const found = await play(one, {
        assume,
        seed,
        onPlayed(ledger) {
          const run = ledger.runs().find(({ name }) => name === 'nudge');
          if (run === undefined) throw new Error('the follow-up was not sent');
          for (const batch of ledger.outcomes(run, { outcomes: ['accepted'] }))
            people.push(...batch.map(({ key }) => String(key)));
        },
      });
      return { found, people: people.toSorted() };
    };
    const first = await asked(project, 1);
    expect(await asked(project, 1)).toEqual(first);
    expect((await asked(other, 1)).people).toEqual(first.people);
    expect((await asked(project, 2)).people).not.toEqual(first.people);
    expect(first.found.assume).toEqual({ ...assume, seed: 1 });
  });
});

describe('what else depends on reports and replies', () => {
  test('a fallback costs what the message before it cost too: the days add up to what the budget counted', async () => {
    using project = createProject({
      ...campaign('hello', `${ONCE}\nfallback: { channel: sms, template: { text: "Hello" } }`, { channel: 'rcs' }),
      'handbill.yaml': 'prices: prices.csv\nenvironments: { sandbox: { budget: { max: 99, per: month } } }\n',
      'prices.csv': 'country,price,channel,currency\nGB,0.06,rcs,EUR\nGB,0.04,sms,EUR\n',
    });
    let spent = 0;
    let channels: readonly (number | null)[] = [];
    const { days, occurrences, busiest } = await play(project, {
      assume: { delivered: 0.5 },
      onPlayed(ledger) {
        spent = ledger.spent({ environment: 'sandbox', period: '2026-11', currency: 'EUR' }) / 1e6;
        const [run] = ledger.runs();
        channels = run === undefined ? [] : stepTotals(ledger.steps(run)).map(({ cost }) => cost);
      },
    });
    const fallbacks = (days[0]?.messages ?? 0) - COUNT;
    expect(fallbacks).toBeGreaterThan(COUNT * 0.4);
    expect(fallbacks).toBeLessThan(COUNT * 0.6);
    expect(spent).toBe((COUNT * 6 + fallbacks * 4) / 100);
    expect(channels).toEqual([(COUNT * 6) / 100, (fallbacks * 4) / 100]);
    const sum = { messages: COUNT + fallbacks, parts: fallbacks, cost: spent };
    expect(days).toEqual([{ day: '2026-11-30', ...sum }]);
    expect(occurrences).toMatchObject([sum]);
    expect(busiest).toBe(2);
  });

  test('a winner by replies is found', async () => {
    using project = createProject(
      campaign(
        'hello',
        `${ONCE}\nvariants: [{ name: a }, { name: b, template: { text: "Hi {{name}}" } }]\ntest: 60%\nwinner: { by: replied, wait: 8h, minimum: 10 }`,
      ),
    );
    const winners: (string | null)[] = [];
    const found = await play(project, {
      assume: { replied: 0.4 },
      onPlayed: (ledger) => winners.push(...ledger.runs().map(({ winner }) => winner)),
    });
    expect(winners).toEqual([expect.stringMatching(/^[ab]$/)]);
    expect(found.occurrences[0]).toMatchObject({ state: 'finished', messages: COUNT });
  });

  test('a person who writes STOP gets nothing more from any campaign', async () => {
    using project = createProject({
      ...campaign('hello', ONCE),
      ...campaign('later', ONCE.replace('09:00', '18:00')),
    });
    const [first, second] = (await play(project, { assume: { optedOut: 0.2 } })).occurrences;
    const stopped = second?.reasons?.['skipped']?.['suppressed'] ?? 0;
    expect([first?.messages, (second?.messages ?? 0) + stopped]).toEqual([COUNT, COUNT]);
    expect(stopped).toBeGreaterThan(COUNT * 0.1);
  });

  test.each([undefined, { optedOut: 0.2 }])(
    'no person answers where all messages are redirected, and the output says it: %j',
    async (assume) => {
      using project = createProject({
        'handbill.yaml':
          'environments: { test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY }, redirect: "+447400123456" } }\n',
        ...campaign('hello', GATE),
        ...campaign('later', ONCE.replace('09:00', '18:00')),
      });
      const found = await play(project, { environment: 'test', ...(assume === undefined ? {} : { assume }) });
      expect(brief(found).at(-1)).toEqual(['later', 'finished', COUNT, {}]);
      expect(found.assumed).toContain('No delivery reports and no replies come: messages are redirected.');
      expect(found.assumed.join(' ')).not.toMatch(/STOP|--assume/);
    },
  );

  test('who is not reached gets the fallback', async () => {
    using project = createProject(
      campaign('hello', `${ONCE}\nfallback: { channel: sms, template: { text: "Hi {{name}}" } }`, { channel: 'rcs' }),
    );
    const { occurrences } = await play(project, { assume: { delivered: 0.6 } });
    expect(occurrences[0]?.state).toBe('finished');
    expect(occurrences[0]?.messages).toBeGreaterThanOrEqual(COUNT);
    expect(occurrences[0]?.parts).toBeGreaterThan(COUNT * 0.3);
    expect(occurrences[0]?.parts).toBeLessThan(COUNT * 0.5);
  });

  test('several recipients of one request have reports of their own', async () => {
    using project = createProject(
      campaign('hello', GATE.replace('send: {', 'send: { recipientsPerRequest: 20,'), { text: 'Hello' }),
    );
    const { occurrences } = await play(project, { assume: { delivered: 1 } });
    expect(occurrences[0]).toMatchObject({ state: 'finished', messages: COUNT });
  });

  test('nothing is stored where nothing depends on it', async () => {
    using project = createProject(campaign('hello', ONCE));
    const counts: unknown[] = [];
    await play(project, {
      assume: { delivered: 0.9, replied: 0.3 },
      onPlayed: (ledger) => counts.push(ledger.events.counts()),
    });
    expect(counts).toEqual([{ reports: 0, replies: 0, unread: 0 }]);
  });
});

describe('--assume', () => {
  it('is part of the output', async () => {
    using project = createProject(campaign('hello', GATE));
    const args = ['rehearse', '--days', '1', '--assume', 'delivered=95%,replied=3%,opted-out=0.5%', '--seed', '7'];
    const { stdout } = await runHere(args, { cwd: project.root, now: () => START });
    expect(stdout).toContain(
      '95% of the messages are reported as delivered within 5 min; 3% answer and 0.5% write STOP within 6 h after that (seed 7).',
    );
    const json = await runHere([...args, '--format', 'json'], { cwd: project.root, now: () => START });
    const schema: unknown = JSON.parse(readFileSync('schemas/rehearsal.schema.json', 'utf8'));
    const validate = new Ajv({ strict: false }).compile(schema as object);
    const document = JSON.parse(json.stdout) as { readonly assume: unknown };
    expect([validate(document), validate.errors]).toEqual([true, null]);
    expect(document.assume).toEqual({ delivered: 0.95, replied: 0.03, optedOut: 0.005, seed: 7 });
  });

  it.each([
    ['delivered', '"delivered" takes a share from 0% to 100%, such as delivered=95%.'],
    ['delivered=', '"delivered" takes a share from 0% to 100%'],
    ['arrived=3%', '"arrived=3%" is none of delivered, replied, opted-out'],
    ['replied=120%', '"replied" takes a share from 0% to 100%'],
    ['replied=3%,replied=4%', '"replied" is there twice.'],
    ['replied=0.03', '"replied" takes a share from 0% to 100%'],
  ])('refuses %s, and says how it is written', async (shares, said) => {
    using project = createProject(campaign('hello', ONCE));
    const { status, stderr } = await runHere(['rehearse', '--assume', shares], { cwd: project.root });
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  it('refuses a seed that draws nothing', async () => {
    using project = createProject(campaign('hello', ONCE));
    const { status, stderr } = await runHere(['rehearse', '--seed', '3'], { cwd: project.root });
    expect([status, stderr]).toEqual([2, expect.stringContaining('Add --assume.')]);
  });

  it('refuses more answers than delivered messages', async () => {
    using project = createProject(campaign('hello', ONCE));
    const args = ['rehearse', '--assume', 'delivered=50%,replied=40%,opted-out=20%'];
    const { status, stderr } = await runHere(args, { cwd: project.root });
    expect(status).toBe(2);
    expect(stderr).toContain('More people would answer (60%) than have the message (50%).');
    await expect(play(project, { assume: { replied: 3 } })).rejects.toThrow('not a number from 0 to 1');
  });
});
