import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Rehearsal } from '../../src/model.ts';
import { planStanding, readPlan } from '../../src/operations/plan.ts';
import { send } from '../../src/operations/send.ts';
import type { AnyPlanFile, StandingPlan } from '../../src/plan/plan-file.ts';
import { createPlanFile, createStandingPlan, parsePlanFile, signedBytes } from '../../src/plan/plan-file.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type Key, type Keyring, openKeyring } from './keys.ts';

const API_KEY = 'test-key-of-the-api';
const DAY_MS = 86_400_000;
/** After the files of a project were written: its schedule is not new then. */
const START = Math.floor(Date.now() / DAY_MS + 1) * DAY_MS + 9.1 * 3_600_000;
const dayAfter = (days: number): string => new Date(START + days * DAY_MS).toISOString().slice(0, 10);
const UNTIL = dayAfter(36);
const LIST = 'msisdn,first\n+447700900001,Ann\n+447700900002,Bo\n';
const CAMPAIGN = `name: nightly
channel: sms
from: Riverside
template: nightly.hbs
recipients: { csv: people.csv, sample: sample.csv }
limits: { maxRecipients: 3, minRecipients: 1, change: 60% }
schedule: { cron: 0 9 * * *, timeZone: UTC, missed: catch-up }
`;

let ring: Keyring;
const keys = {} as Record<'ana' | 'ben' | 'cem' | 'mallory', Key>;
let api: Sandbox;
let project: TestProject;
let now = START;

beforeAll(async () => {
  ring = await openKeyring();
  for (const name of ['ana', 'ben', 'cem', 'mallory'] as const) keys[name] = await ring.make(name);
  api = await startSandbox({ apiKey: API_KEY, keep: 0 });
});
afterAll(async () => {
  await api.close();
  await ring.remove();
});

let before = 0;
beforeEach(() => {
  now = START;
  before = api.received;
  project = createProject({
    'handbill.yaml': projectFile(),
    'campaigns/nightly/campaign.yaml': CAMPAIGN,
    'campaigns/nightly/nightly.hbs': 'Hello {{first}}',
    'campaigns/nightly/people.csv': LIST,
    'campaigns/nightly/sample.csv': 'msisdn,first\n+447700900009,Sample\n',
  });
});
afterEach(() => project[Symbol.dispose]());

/** Requests that the API got in this test. */
const received = (): number => api.received - before;

function projectFile({
  standing = '{ longest: 90d }',
  budget,
}: {
  readonly standing?: string | null;
  readonly budget?: number;
} = {}): string {
  const person = (name: 'ana' | 'ben' | 'cem'): string => `{ name: ${name}@x.org, key: "${keys[name].text}" }`;
  const people = `    approvers: [${person('ana')}, ${person('ben')}]\n    planners: [${person('cem')}]\n`;
  const rule = standing === null ? '' : `    standingApprovals: ${standing}\n`;
  const most = budget === undefined ? '' : `    budget: { max: ${budget}, per: month }\n`;
  const environment = (name: string): string =>
    `  ${name}:\n    baseUrl: ${api.url}\n    apiKey: { env: HANDBILL_API_KEY }\n${people}${rule}${most}`;
  return `${budget === undefined ? '' : 'prices: prices.csv\n'}environments:\n${environment('production')}${environment('staging')}`;
}

async function run(...args: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: project.root, HANDBILL_API_KEY: API_KEY };
  const { status, out, err } = await handbillHere(project.root, args, { env, now: () => now });
  return { status, stdout: out, stderr: err };
}
const due = (...more: readonly string[]) => run('due', '--env', 'production', '--yes', ...more);
const list = (text: string): void => project.write('campaigns/nightly/people.csv', text);
const PLAN = `approvals/nightly-production-${UNTIL}.json`;
const MAKE = ['approve', 'nightly', '--env', 'production', '--standing', '--until', UNTIL, '--yes'];

/** Every test has the same project, so that its plan can be signed once for all. */
let known: string | null = null;

/** A standing plan that cem made and that ben approved, where `due` finds it. */
async function approved(): Promise<void> {
  if (known === null) {
    for (const { path } of [keys.cem, keys.ben]) {
      const made = await run(...MAKE, '--sign', path);
      expect(made, made.stderr).toMatchObject({ status: 0 });
    }
    known = readFileSync(project.path(PLAN), 'utf8');
  } else {
    mkdirSync(project.path('approvals'), { recursive: true });
    project.write(PLAN, known);
  }
}

describe('a standing approval', () => {
  it('is made and signed in one, without the list, and shown plainly with the sample', async () => {
    rmSync(project.path('campaigns/nightly/people.csv'));
    const made = await run(...MAKE, '--sign', keys.cem.path);
    expect(made, made.stderr).toMatchObject({ status: 0 });
    for (const fact of [
      new RegExp(`STANDING +every occurrence until ${UNTIL} \\(UTC\\)`),
      /NOT SEALED +the list/,
      /goes out +0 9 \* \* \* UTC; by hand, for any occurrence that is named, however many/,
      /list +at most 3 recipients, at least 1 row, 60% more or fewer than the last/,
      /sample +campaigns\/nightly\/sample\.csv, 1 recipient, 1 part/,
      /message +Hello Sample/,
      /Not approved for production yet\. Signed so far by cem/,
    ]) {
      expect(made.stderr).toMatch(fact);
    }
    expect(readdirSync(project.path('approvals'))).toEqual([`nightly-production-${UNTIL}.json`]);
    const second = await run('approve', PLAN, '--sign', keys.ben.path, '--yes');
    expect(second, second.stderr).toMatchObject({ status: 0 });
    expect(second.stderr).toMatch(/STANDING/);
    expect(second.stderr).toContain(`approved for production until ${UNTIL}`);
    const text = readFileSync(project.path(PLAN), 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      version: 2,
      standing: { until: UNTIL },
      signatures: [{}, {}].map(() => expect.any(String)),
    });
    for (const word of ['occurrence', 'estimate', 'people.csv', 'sample.csv', '"day"'])
      expect(text).not.toContain(word);
  });

  it('asks, and signs nothing without a yes', async () => {
    const made = await run(...MAKE.filter((one) => one !== '--yes'), '--sign', keys.cem.path);
    expect(made).toMatchObject({ status: 2 });
    expect(made.stderr).toContain('not-confirmed');
    expect(() => readdirSync(project.path('approvals'))).toThrow();
  });

  it('lets due send each occurrence once, whatever the list holds within its guards', async () => {
    await approved();
    const first = await due();
    expect(first, first.stderr).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
    expect(await due()).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
    now += DAY_MS;
    list('msisdn,first\n+447700900003,Di\n+447700900004,Ed\n+447700900005,Flo\n');
    const second = await due();
    expect(second, second.stderr).toMatchObject({ status: 0 });
    expect(received()).toBe(5);
    now += DAY_MS;
    list('msisdn,first\n+447700900003,Di\n');
    const third = await due();
    expect(third).toMatchObject({ status: 2 });
    expect(third.stderr).toContain('list-size-changed');
    expect(received()).toBe(5);
  });

  it('is found by send as well, or named beside the campaign or alone', async () => {
    await approved();
    expect(await run('send', 'nightly', '--env', 'production', '--yes')).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
    const named = ['--plan', PLAN, '--yes', '--occurrence'];
    expect(await run('send', 'nightly', '--env', 'production', ...named, 'extra')).toMatchObject({ status: 0 });
    expect(await run('send', ...named, 'more')).toMatchObject({ status: 0 });
    expect(received()).toBe(6);
    expect(await run('send', ...named, 'more')).toMatchObject({ status: 0 });
    expect(received()).toBe(6);
    const other = await run('send', 'nightly', '--env', 'staging', ...named, 'more');
    expect(other).toMatchObject({ status: 2 });
    const plan = readPlan(PLAN, { cwd: project.root }) as StandingPlan;
    const sending = { env: { ...process.env, HANDBILL_API_KEY: API_KEY }, now: () => now, confirm: true };
    await send('nightly', { cwd: project.root, environment: 'production', occurrence: 'lib', plan, ...sending });
    expect(received()).toBe(8);
  });

  it('is in the dry runs of due and send too', async () => {
    const none = await due('--dry-run');
    expect(none).toMatchObject({ status: 2 });
    expect(none.stderr).toContain('not-approved');
    await approved();
    expect(await due('--dry-run')).toMatchObject({ status: 0 });
    const shown = await run('send', 'nightly', '--env', 'production', '--dry-run');
    expect(shown, shown.stderr).toMatchObject({ status: 0 });
    const weaker = await run('send', 'nightly', '--env', 'production', '--dry-run', '--allow', 'list-too-old');
    expect(weaker.stderr).toContain('A standing approval does not cover --allow list-too-old.');
    expect(received()).toBe(0);
  });

  it.each<[what: string, change: () => void, said: string]>([
    ['a template', () => project.write('campaigns/nightly/nightly.hbs', 'Hi {{first}}'), 'The template file changed'],
    [
      'the campaign',
      () => project.write('campaigns/nightly/campaign.yaml', CAMPAIGN.replace('maxRecipients: 3', 'maxRecipients: 9')),
      'The campaign file changed',
    ],
    [
      'a default of its settings',
      () => project.write('handbill.yaml', `defaults: { locale: de }\n${projectFile()}`),
      'A setting of the environment or the project changed',
    ],
    [
      'a default of its guards',
      () => project.write('handbill.yaml', `defaults: { frequency: { max: 5, per: day } }\n${projectFile()}`),
      'A limit, or a rule about who is sent to and when, changed',
    ],
  ])('does not hold after a change of %s, and the occurrence stays free', async (_what, change, said) => {
    await approved();
    const origin = readFileSync(project.path('handbill.yaml'), 'utf8');
    change();
    const refused = await due();
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('not-approved');
    expect(refused.stderr).toContain(said);
    const named = await run('send', 'nightly', '--plan', PLAN, '--yes');
    expect(named).toMatchObject({ status: 2 });
    expect(named.stderr).toContain(said);
    expect(named.stderr).toContain('--standing --until DATE');
    expect((await run('approve', PLAN, '--check')).stderr).toContain(said);
    expect(received()).toBe(0);
    project.write('handbill.yaml', origin);
    project.write('campaigns/nightly/campaign.yaml', CAMPAIGN);
    project.write('campaigns/nightly/nightly.hbs', 'Hello {{first}}');
    expect(await due()).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });

  it('shows the budget of the environment, and does not hold when that is raised', async () => {
    project.write('prices.csv', 'country,channel,price,currency\nGB,sms,0.04,GBP\n');
    project.write('handbill.yaml', projectFile({ budget: 500 }));
    for (const { path } of [keys.cem, keys.ben]) {
      const made = await run(...MAKE, '--sign', path);
      expect(made, made.stderr).toMatchObject({ status: 0 });
      expect(made.stdout + made.stderr).toContain('500 in a month, of all campaigns together');
    }
    project.write('handbill.yaml', projectFile({ budget: 5000 }));
    const refused = await due();
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('A limit, or a rule about who is sent to and when, changed');
    expect(received()).toBe(0);
    project.write('handbill.yaml', projectFile({ budget: 500 }));
    expect(await due()).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });

  it('holds after changes of what it does not seal: lines that move, suppressions', async () => {
    await approved();
    project.write('handbill.yaml', `# A comment.\n${projectFile()}`);
    await run('suppress', 'add', '+447700900001');
    const sent = await due();
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
    expect(received()).toBe(1);
  });

  it('seals which suppression lists are named, and not what they hold', async () => {
    const others = known;
    known = null;
    project.write('opt.csv', 'msisdn\n+447700900001\n');
    project.write('handbill.yaml', `${projectFile()}suppressions: opt.csv\n`);
    await approved();
    known = others;
    project.write('more.csv', 'msisdn\n+447700900009\n');
    for (const lists of ['', 'suppressions: more.csv\n', 'suppressions: [opt.csv, more.csv]\n']) {
      project.write('handbill.yaml', projectFile() + lists);
      const refused = await due();
      expect(refused).toMatchObject({ status: 2 });
      expect(refused.stderr).toContain('The lists that `suppressions` names changed since it was approved');
    }
    expect(received()).toBe(0);
    project.write('handbill.yaml', `${projectFile()}suppressions: ./opt.csv\n`);
    project.write('opt.csv', 'msisdn\n+447700900009\n');
    const sent = await due();
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });

  it('is as a plan of one occurrence is: it seals the names of suppression lists', async () => {
    project.write('opt.csv', 'msisdn\n+447700900001\n');
    project.write('handbill.yaml', `${projectFile()}suppressions: opt.csv\n`);
    const made = await run('plan', 'nightly', '--env', 'sandbox', '--occurrence', 'x', '-o', 'p.json');
    expect(made, made.stderr).toMatchObject({ status: 0 });
    project.write('handbill.yaml', projectFile());
    const refused = await run('send', '--plan', 'p.json', '--yes');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('The lists that `suppressions` names changed since the plan was made');
    project.write('handbill.yaml', `${projectFile()}suppressions: opt.csv\n`);
    expect(await run('send', '--plan', 'p.json', '--yes')).toMatchObject({ status: 0 });
  });

  it('warns in the last week, as long as it counts', async () => {
    await approved();
    const ends = `The standing approval of nightly for production ends with ${UNTIL} (UTC).`;
    const sent = async (...args: readonly string[]) => (await run(...args, '--env', 'production', '--yes')).stderr;
    now = Math.floor(START / DAY_MS + 29) * DAY_MS;
    expect(await sent('send', 'nightly', '--occurrence', 'a week before')).not.toContain('approval-ends');
    now += 1;
    for (const command of [
      ['send', 'nightly', '--occurrence', 'later'],
      ['send', '--plan', PLAN, '--occurrence', 'named'],
    ]) {
      const said = await sent(...command);
      expect(said).toContain(ends);
      expect(said).toContain('handbill approve nightly --env production --standing --until DATE');
    }
    now = START + 29 * DAY_MS;
    expect(await sent('due')).toContain(ends);
  });

  it('is not given again by a rehearsal after its last day, but one that is missing is', async () => {
    now = START + 34 * DAY_MS;
    const rehearsed = async () => {
      const { stdout } = await run('rehearse', '--env', 'production', '--days', '4', '--format', 'json');
      const { occurrences }: Rehearsal = JSON.parse(stdout);
      return occurrences.map(({ due, state, diagnostics }) => [due?.slice(0, 10), state, diagnostics[0]?.code]);
    };
    const last = [dayAfter(37), 'finished', undefined];
    expect((await rehearsed()).at(-1)).toEqual(last);
    await approved();
    expect((await rehearsed()).slice(-3)).toEqual([
      [dayAfter(35), 'finished', 'approval-ends'],
      [UNTIL, 'finished', 'approval-ends'],
      [dayAfter(37), 'refused', 'not-approved'],
    ]);
    project.write('campaigns/nightly/nightly.hbs', 'Hi {{first}}');
    expect((await rehearsed()).at(-1)).toEqual(last);
  });

  it.each(['one that is in force', 'one that a rehearsal gives'])(
    'does not cover --allow of due nor of rehearse: %s',
    async (which) => {
      if (which === 'one that is in force') await approved();
      const command = ['rehearse', '--env', 'production', '--days', '1', '--format', 'json', '--allow', 'list-too-old'];
      const { occurrences }: Rehearsal = JSON.parse((await run(...command)).stdout);
      expect(occurrences.map(({ state, diagnostics }) => [state, diagnostics.at(-1)?.message])).toEqual([
        ['refused', 'A standing approval does not cover --allow list-too-old.'],
      ]);
    },
  );

  it('ends with its last day in UTC, also for a run that is not finished', async () => {
    await approved();
    now = Math.floor(START / DAY_MS + 37) * DAY_MS - 60_000;
    const begun = await run('send', 'nightly', '--env', 'production', '--limit', '1', '--yes');
    expect(begun).toMatchObject({ status: 0 });
    // What continues it names the plan and, since that is of every occurrence, which one.
    expect(begun.stdout).toMatch(new RegExp(`handbill send --plan ${PLAN} --occurrence ${UNTIL}T09:00:00Z`));
    expect(received()).toBe(1);
    now += 60_000;
    for (const command of [['due'], ['send', 'nightly'], ['send', '--plan', PLAN]]) {
      const over = await run(...command, '--env', 'production', '--yes');
      expect(over).toMatchObject({ status: 2 });
      expect(over.stderr).toContain(`ended with ${UNTIL} (UTC)`);
    }
    expect((await run('approve', PLAN, '--sign', keys.ana.path, '--yes')).stderr).toContain(`ended with ${UNTIL}`);
    expect(received()).toBe(1);
  });

  it.each<[string, readonly string[]]>([
    ['--allow input-changed', ['--allow', 'input-changed']],
    ['--allow list-too-old,too-late', ['--allow', 'list-too-old,too-late']],
    ['--allow invalid-rows', ['--allow', 'invalid-rows']],
    ['--retry corrected', ['--retry', 'corrected']],
    ['--allow ledger-missing', ['--allow', 'ledger-missing']],
    ['--recipients', ['--recipients', 'other.csv']],
  ])('does not cover %s', async (flag, more) => {
    await approved();
    project.write('other.csv', 'msisdn,first\n+447700900777,Eve\n');
    for (const target of [['nightly'], ['nightly', '--plan', PLAN]]) {
      const refused = await run('send', ...target, '--env', 'production', '--yes', ...more);
      expect(refused).toMatchObject({ status: 2 });
      expect(refused.stderr).toContain(flag);
    }
    expect(received()).toBe(0);
  });

  it('does not cover --allow list-too-old of due', async () => {
    await approved();
    const refused = await due('--allow', 'list-too-old');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('A standing approval does not cover --allow list-too-old.');
    expect(received()).toBe(0);
  });

  it('needs the signatures that any plan needs, of persons who may sign now', async () => {
    const one = await run(...MAKE, '--sign', keys.cem.path);
    expect(one, one.stderr).toMatchObject({ status: 0 });
    const early = await due();
    expect(early).toMatchObject({ status: 2 });
    expect(early.stderr).toContain('Signed so far by cem@x.org');
    const stranger = await run('approve', PLAN, '--sign', keys.mallory.path, '--yes');
    expect(stranger).toMatchObject({ status: 2 });
    expect(await run(...MAKE, '--sign', keys.ben.path)).toMatchObject({ status: 0 });
    expect(await due('--dry-run')).toMatchObject({ status: 0 });
    project.write('handbill.yaml', projectFile().replaceAll(keys.ben.text, keys.mallory.text));
    expect(await due()).toMatchObject({ status: 2 });
    expect(received()).toBe(0);
  });

  it('counts in the order of names, and past those that do not', async () => {
    await approved();
    const plan = JSON.parse(readFileSync(project.path(PLAN), 'utf8')) as StandingPlan;
    project.write('approvals/a.json', '{}');
    project.write('approvals/b.json', JSON.stringify({ ...plan, signatures: [] }));
    project.write('approvals/c.txt', 'notes');
    symlinkSync('nowhere', project.path('approvals/d.json'));
    mkdirSync(project.path('approvals/e.json'));
    // As in a mounted ConfigMap.
    project.write('mounted.json', JSON.stringify(plan));
    rmSync(project.path(PLAN));
    symlinkSync('../mounted.json', project.path('approvals/f.json'));
    expect(await due()).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });
});

describe('an occurrence that was partly sent when its list changed', () => {
  const SEND = ['send', 'nightly', '--env', 'production', '--yes'];
  const CHANGED = 'msisdn,first\n+447700900001,Ann\n+447700900022,Bo\n+447700900003,Cy\n';
  const FILE = 'campaigns/nightly/campaign.yaml';

  /** One of two recipients was sent to; then the number of the other is corrected, and a third one comes. */
  async function begun(): Promise<void> {
    await approved();
    const first = await run(...SEND, '--limit', '1');
    expect(first, first.stderr).toMatchObject({ status: 0 });
    list(CHANGED);
  }

  /** Does what a hint says, in its order and to the letter; only names and keys are filled in. */
  async function follow(stderr: string): Promise<void> {
    const said = stderr.replace(/\s+/g, ' ');
    const steps = [...said.matchAll(/`((?:handbill|exclude:) [^`]+)`/g)].map(([, step = '']) => step);
    expect(steps.map((step) => step.split(' ').slice(0, 2).join(' '))).toEqual([
      expect.stringMatching(/^exclude: \[nightly@/),
      'handbill plan',
      'handbill approve',
      'handbill send',
    ]);
    const signers = [keys.cem.path, keys.ben.path];
    for (const step of steps) {
      if (step.startsWith('exclude:')) {
        project.write(FILE, `${CAMPAIGN}${step}\n`);
        continue;
      }
      const filled = step.split(' ').map((word) => {
        if (word === 'KEY') return signers.shift() ?? '';
        return word === 'FILE' ? 'rest.json' : word === 'NAME' ? 'rest' : word;
      });
      const [, command = '', ...args] = filled;
      const done = await run(command, ...args, ...(command === 'plan' ? [] : ['--yes']));
      expect(done, done.stderr).toMatchObject({ status: 0 });
    }
  }

  async function hintOf(...args: readonly string[]): Promise<string> {
    const refused = await run(...args);
    expect(refused, refused.stderr).toMatchObject({ status: 2 });
    return refused.stderr;
  }

  it('is left as it is: each command says how the others are sent to, in the same words, and that works', async () => {
    await begun();
    expect(received()).toBe(1);
    const commands: readonly (readonly string[])[] = [
      SEND,
      [...SEND, '--allow', 'input-changed'],
      ['send', '--plan', PLAN, '--yes', '--allow', 'input-changed'],
      ['send', 'nightly', '--env', 'production', '--dry-run'],
      ['plan', 'nightly', '--env', 'production', '-o', 'same.json'],
    ];
    const ways = new Set<string | undefined>();
    for (const command of commands) {
      const said = (await hintOf(...command)).replaceAll(/\s+/g, ' ');
      expect(said).not.toContain('--allow input-changed:');
      ways.add(/Or leave this occurrence as it is: .* as it was\./.exec(said)?.[0]);
    }
    expect([ways.size, received()]).toEqual([1, 1]);
    const [way = ''] = ways;
    await follow(way);
    expect(received()).toBe(3);
    expect(await run('send', '--plan', 'rest.json', '--yes')).toMatchObject({ status: 0 });
    expect(received()).toBe(3);
    // With `exclude`, the standing approval is of another campaign, as the hint says.
    expect(way).toContain('Then undo the change of `exclude`');
    now += DAY_MS;
    expect((await due()).stderr).toContain('The campaign file changed since it was approved');
    project.write(FILE, CAMPAIGN);
    const next = await due();
    expect(next, next.stderr).toMatchObject({ status: 0 });
    expect(received()).toBe(6);
  });

  it('continues once its list is as it was', async () => {
    await begun();
    expect(await hintOf(...SEND)).toContain('Undo the change, and send again.');
    list(LIST);
    expect(await run(...SEND)).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });

  it('cannot be planned again either, where a plan of one occurrence was approved', async () => {
    const sign = ['-o', 'one.json', '--sign', keys.cem.path];
    await run('plan', 'nightly', '--env', 'production', ...sign);
    await run('approve', 'one.json', '--sign', keys.ben.path, '--yes');
    const first = await run('send', '--plan', 'one.json', '--yes', '--limit', '1');
    expect(first, first.stderr).toMatchObject({ status: 0 });
    list(CHANGED);
    expect(await hintOf('send', '--plan', 'one.json', '--yes')).toContain('make and review a new plan');
    const again = await hintOf('plan', 'nightly', '--env', 'production', ...sign);
    await follow(again);
    expect(received()).toBe(3);
    // The next time, what is excluded already stays so.
    list(CHANGED.replace('Cy', 'Cyd'));
    const [, excluded] = /`exclude: \[(.*?)\]`/.exec(again.replace(/\s+/g, ' ')) ?? [];
    const rest = ['plan', 'nightly', '--env', 'production', '--occurrence', 'rest', ...sign];
    expect((await hintOf(...rest)).replace(/\s+/g, ' ')).toContain(`set \`exclude: [${excluded}, nightly@rest]\``);
  });
});

it('a folder that is none is said', async () => {
  project.write('approvals', 'a file');
  const refused = await due();
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain('cannot be read: ENOTDIR');
});

describe('where it may be made', () => {
  it.each<[what: string, standing: string | null, until: string, said: string]>([
    ['not where handbill.yaml does not say so', null, UNTIL, 'production takes no standing approvals'],
    ['not for longer than the project says', '{ longest: 30d }', UNTIL, 'production takes 30d at most'],
    ['not for a day that is past', '{ longest: 30d }', dayAfter(-1), `ended with ${dayAfter(-1)}`],
    ['not for what is no day', '{ longest: 30d }', '31.12.2026', '"31.12.2026" is not a day'],
    ['not for more than 366 days', '{ longest: 400d }', UNTIL, 'from 1d to 366d'],
  ])('%s', async (_what, standing, until, said) => {
    project.write('handbill.yaml', projectFile({ standing }));
    const refused = await run('plan', 'nightly', '--env', 'production', '--standing', '--until', until);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(said);
  });

  it('a project that shortens or takes back the longest time ends those that are longer', async () => {
    await approved();
    for (const standing of ['{ longest: 30d }', null]) {
      project.write('handbill.yaml', projectFile({ standing }));
      expect(await due()).toMatchObject({ status: 2 });
      expect(await run('send', '--plan', PLAN, '--yes')).toMatchObject({ status: 2 });
    }
    expect(received()).toBe(0);
  });

  it('a plan that claims to be made later does not last longer', async () => {
    const plan = await planStanding('nightly', {
      cwd: project.root,
      now: () => now,
      environment: 'production',
      until: UNTIL,
    });
    const { version: _v, fingerprint: _f, signatures: _s, ...facts } = plan;
    const later = { ...facts, plannedAt: `${dayAfter(300)}T00:00:00.000Z`, standing: { until: dayAfter(360) } };
    project.write('later.json', `${JSON.stringify(createStandingPlan(later))}\n`);
    for (const more of [[], ['--unchecked']]) {
      const refused = await run('approve', 'later.json', '--sign', keys.ben.path, '--yes', ...more);
      expect(refused).toMatchObject({ status: 2 });
      expect(refused.stderr).toContain(`lasts until ${dayAfter(360)}`);
    }
  });

  it('without list and sample too; templates are checked against what is there', async () => {
    project.write('campaigns/nightly/campaign.yaml', CAMPAIGN.replace(', sample: sample.csv', ''));
    rmSync(project.path('campaigns/nightly/people.csv'));
    const plan = ['plan', 'nightly', '--env', 'production', '--standing', '--until', UNTIL];
    expect(await run(...plan)).toMatchObject({ status: 0 });
    project.write('campaigns/nightly/nightly.hbs', 'Hello {{first');
    expect(await run(...plan)).toMatchObject({ status: 2 });
  });

  it('says what it does not know of a plan that is not compared, and that a list in the campaign is sealed', async () => {
    await approved();
    const unchecked = await run('approve', PLAN, '--sign', keys.ana.path, '--yes', '--unchecked');
    expect(unchecked.stderr).toMatch(/NOT SEALED +the list; what bounds each run is not known here/);
    const inline = 'recipients: [{ msisdn: "+447700900001", first: Ann }]';
    project.write('campaigns/nightly/campaign.yaml', CAMPAIGN.replace(/recipients: .*/, inline));
    const made = await run(...MAKE, '--sign', keys.cem.path);
    expect(made.stderr).toMatch(/the list +is in the campaign file, and sealed with it/);
    expect(made.stderr).not.toContain('NOT SEALED');
  });

  it('says what does not go together', async () => {
    const plan = ['plan', 'nightly', '--env', 'production'];
    for (const [args, said] of [
      [[...plan, '--standing'], 'A standing approval has a last day.'],
      [[...plan, '--until', UNTIL], '--until is for --standing.'],
      [
        [...plan, '--standing', '--until', UNTIL, '--occurrence', 'x', '--allow', 'list-too-old'],
        '--occurrence, --allow cannot be used',
      ],
      [['approve', 'nightly', '--standing', '--env', 'production'], 'A standing approval has a last day.'],
      [['approve', 'nightly', '--standing', '--until', UNTIL, '--unchecked'], '--unchecked is for a plan file'],
      [['approve', PLAN, '--until', UNTIL], '--until is for --standing.'],
      [['approve', 'nightly', '--standing', '--until', UNTIL], 'sandbox takes no standing approvals'],
    ] as const) {
      const refused = await run(...args);
      expect(refused).toMatchObject({ status: 2 });
      expect(refused.stderr).toContain(said);
    }
  });

  it('with the files for cron and the like', async () => {
    const printed = await run('schedule', '--format', 'crontab', '--env', 'production');
    expect(printed, printed.stderr).toMatchObject({ status: 0 });
    project.write('handbill.yaml', projectFile({ standing: null }));
    expect(await run('schedule', '--format', 'crontab', '--env', 'production')).toMatchObject({ status: 2 });
  });
});

describe('what it may be taken for', () => {
  const write = (plan: object): void => {
    mkdirSync(project.path('approvals'), { recursive: true });
    writeFileSync(project.path(PLAN), `${JSON.stringify(plan, null, 2)}\n`);
  };
  const read = (): StandingPlan => JSON.parse(readFileSync(project.path(PLAN), 'utf8')) as StandingPlan;
  const remade = (
    { version: _v, fingerprint: _f, signatures, ...facts }: StandingPlan,
    more: Partial<StandingPlan>,
  ): object => ({
    ...createStandingPlan({ ...facts, ...more }),
    signatures,
  });

  it.each<[what: string, change: Partial<StandingPlan>]>([
    ['another last day', { standing: { until: dayAfter(60) } }],
    ['another environment', { environment: 'staging' }],
    ['another campaign', { campaign: { name: 'daily', file: 'campaigns/nightly/campaign.yaml' } }],
    ['other inputs', { inputs: [] }],
    ['something that it allows', { allow: ['invalid-rows'] } as never],
  ])('its signatures do not count for %s', async (_what, change) => {
    await approved();
    write(remade(read(), change));
    const environment = change.environment ?? 'production';
    expect(await run('due', '--env', environment, '--yes')).toMatchObject({ status: 2 });
    expect(await run('send', '--plan', PLAN, '--yes')).toMatchObject({ status: 2 });
    expect(received()).toBe(0);
  });

  it('signatures of a plan of one occurrence do not count for it, nor the other way around', async () => {
    await approved();
    const standing = read();
    const args = [
      'plan',
      'nightly',
      '--env',
      'production',
      '--occurrence',
      'one',
      '-o',
      'one.json',
      '--sign',
      keys.cem.path,
    ];
    expect(await run(...args)).toMatchObject({ status: 0 });
    expect(await run('approve', 'one.json', '--sign', keys.ben.path, '--yes')).toMatchObject({ status: 0 });
    const one = JSON.parse(readFileSync(project.path('one.json'), 'utf8')) as AnyPlanFile;
    expect(new TextDecoder().decode(signedBytes(one))).not.toBe(new TextDecoder().decode(signedBytes(standing)));
    write({ ...standing, signatures: one.signatures });
    expect((await due()).stderr).toContain('not-approved');
    project.write('one.json', JSON.stringify({ ...one, signatures: standing.signatures }));
    expect((await run('send', '--plan', 'one.json', '--yes')).stderr).toContain('not-approved');
    // In the folder, a plan of one occurrence is not looked for.
    rmSync(project.path(PLAN));
    project.write('approvals/one.json', JSON.stringify(one));
    expect(await due()).toMatchObject({ status: 2 });
    expect(received()).toBe(0);
  });

  it.each<[what: string, change: (plan: StandingPlan) => object]>([
    ['a changed last day', (plan) => ({ ...plan, standing: { until: dayAfter(37) } })],
    ['no plan of the first format', (plan) => ({ ...plan, version: 1 })],
    ['a format to come', (plan) => ({ ...plan, version: 3 })],
    ['with an occurrence', (plan) => remade(plan, { occurrence: 'once' } as object)],
    ['with figures', (plan) => remade(plan, { estimate: {} } as object)],
    ['without an end', (plan) => remade(plan, { standing: {} as { until: string } })],
    ['with a last day that does not exist', (plan) => remade(plan, { standing: { until: '2026-02-30' } })],
    ['with more in its end', (plan) => remade(plan, { standing: { until: UNTIL, list: 'any' } as { until: string } })],
  ])('is no plan: %s', async (_what, change) => {
    await approved();
    write(change(read()));
    const refused = await run('send', '--plan', PLAN, '--yes');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('plan-invalid');
    expect(received()).toBe(0);
  });

  it('a plan of one occurrence with a last day is none', () => {
    const estimate = {
      rows: 0,
      send: 0,
      parts: 0,
      unpriced: 0,
      deferred: {},
      done: {},
      costMicros: null,
      currency: null,
    };
    const facts = { campaign: { name: 'a', file: 'a' }, environment: 'e', occurrence: 'once', recipients: null };
    const more = {
      allow: [],
      plannedAt: new Date(START).toISOString(),
      commit: null,
      inputs: [],
      estimate: estimate as never,
    };
    expect(parsePlanFile(JSON.stringify(createPlanFile({ ...facts, ...more })), 'f')).toMatchObject({ version: 1 });
    const both = createPlanFile({ ...facts, ...more, standing: { until: UNTIL } } as never);
    expect(parsePlanFile(JSON.stringify(both), 'f')).toMatchObject({ code: 'plan-invalid' });
  });
});
