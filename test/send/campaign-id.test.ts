import { readFileSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { sendPlan } from '../../src/operations/send-once.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createMemory } from '../../src/send/memory.ts';
import { handbillHere } from '../cli/in-process.ts';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NINE = Date.parse('2026-11-23T09:00:05Z');
const HOUR_MS = 3_600_000;

const api = useApi();

const PEOPLE = [0, 1, 2, 3].map((i) => `+44770090020${i}`);
const LIST = `msisdn,name\n${PEOPLE.map((to) => `${to},Name\n`).join('')}`;
const FILE = 'campaigns/hello/campaign.yaml';

const campaign = (name: string, more = ''): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: ../hello.hbs\nrecipients: people.csv\n${more}`;

function project(more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    'campaigns/hello.hbs': 'Hi {{name}}',
    [FILE]: campaign('hello', more),
    'campaigns/hello/people.csv': LIST,
  });
}

const env = { KEY: 'secret' };

const textOf = (here: TestProject, file: string): string => readFileSync(here.path(file), 'utf8');

function handbill(here: TestProject, line: string, nowMs = NINE) {
  const args = line.split(' ');
  const named = ['validate', 'report', 'runs', 'doubt'].includes(args[0] ?? '') ? [] : ['--env', 'api'];
  return handbillHere(here.root, [...args, ...named], { env, now: () => nowMs, width: 400 });
}

function runsIn(here: TestProject): readonly string[] {
  const db = new DatabaseSync(here.path('.handbill/ledger.db'), { readOnly: true });
  const rows = db.prepare("SELECT campaign, occurrence FROM runs WHERE state <> 'loading' ORDER BY number").all();
  db.close();
  return rows.map((row) => `${row['campaign']}@${row['occurrence']}`);
}

function pausesIn(here: TestProject): readonly unknown[] {
  const db = new DatabaseSync(here.path('.handbill/ledger.db'), { readOnly: true });
  const rows = db.prepare('SELECT campaign FROM pauses WHERE resumed_at IS NULL ORDER BY number').all();
  db.close();
  return rows.map((row) => row['campaign']);
}

async function planOf(here: TestProject) {
  const { campaign: loaded } = await loadCampaign(FILE, { cwd: here.root });
  return await createPlan(loaded, { environment: 'api', occurrence: 'once', nowMs: NINE });
}

/** Says yes after something has happened. */
function asked(here: TestProject, meanwhile: () => Promise<unknown> = async () => undefined) {
  const confirm = async (): Promise<boolean> => {
    await meanwhile();
    return true;
  };
  return { cwd: here.root, env, now: () => NINE, confirm };
}

describe('a campaign with a new name and its old id', () => {
  it.each(['once', 'monday'])('continues and finishes its run: %s', async (occurrence) => {
    using here = project();
    await handbill(here, `send hello --yes --limit 1 --occurrence ${occurrence}`);
    here.write(FILE, campaign('welcome', 'id: hello\n'));
    const line = `send welcome --yes${occurrence === 'once' ? '' : ` --occurrence ${occurrence}`}`;
    // The file has changed, as it may for any reason.
    expect(await handbill(here, line)).toMatchObject({ status: 2, err: expect.stringContaining('input-changed') });
    expect((await handbill(here, 'report welcome')).out).toContain(`hello · api · ${occurrence}`);
    expect(await handbill(here, `${line} --allow input-changed`)).toMatchObject({ status: 0 });
    expect(api.numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual([`hello@${occurrence}`]);
    await handbill(here, `${line} --allow input-changed`);
    expect(api.numbers()).toHaveLength(4);
    expect((await handbill(here, 'report welcome')).out).toContain(`welcome · api · ${occurrence}`);
    expect(await handbill(here, `preview welcome --occurrence ${occurrence} --quiet`)).toMatchObject({ status: 0 });
  });

  it('begins new occurrences, compares their lists, and moves with its folder', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --occurrence monday');
    here.write('campaigns/welcome/campaign.yaml', campaign('welcome', 'id: hello\nlimits: { change: 30% }\n'));
    here.write('campaigns/welcome/people.csv', LIST);
    here.write(FILE, '# moved\n');
    expect(await handbill(here, 'send welcome --yes --occurrence tuesday')).toMatchObject({ status: 0, err: '' });
    expect(runsIn(here)).toEqual(['hello@monday', 'hello@tuesday']);
    here.write('campaigns/welcome/people.csv', LIST.split('\n').slice(0, 2).join('\n'));
    const short = await handbill(here, 'send welcome --yes --occurrence wednesday');
    expect(short).toMatchObject({ status: 2, err: expect.stringContaining('75% fewer than the 4 of tuesday') });
    expect(api.numbers()).toHaveLength(8);
  });

  it('is not due again for an instant that was sent under the old name', async () => {
    const schedule = 'schedule: { cron: "0 9 * * *", missed: catch-up }\n';
    using here = project(schedule);
    expect(await handbill(here, 'due --yes')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('welcome', `${schedule}id: hello\n`));
    const again = await handbill(here, 'due --yes', NINE + HOUR_MS / 4);
    expect(again).toMatchObject({ status: 0, err: expect.stringContaining('Nothing is due') });
    expect(api.numbers()).toHaveLength(4);
    expect(await handbill(here, 'due --yes', NINE + 24 * HOUR_MS)).toMatchObject({ status: 0 });
    expect(runsIn(here)).toEqual(['hello@2026-11-23T09:00:00Z', 'hello@2026-11-24T09:00:00Z']);
  });

  it('is excluded, paused and followed by its new name', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 3');
    here.write(FILE, campaign('welcome', 'id: hello\n'));
    here.write('campaigns/other/people.csv', LIST);
    for (const exclude of ['welcome', 'welcome@once']) {
      here.write('campaigns/other/campaign.yaml', campaign('other', `exclude: ${exclude}\n`));
      const { out, err } = await handbill(here, 'preview other');
      expect({ exclude, out }).toMatchObject({ exclude, out: expect.stringContaining('3 excluded') });
      expect(err).not.toContain('run-not-found');
    }
    here.write('campaigns/other/campaign.yaml', campaign('other', 'after: { campaign: welcome, wait: 1h }\n'));
    const followed = await handbill(here, 'preview other', NINE + 2 * HOUR_MS);
    expect(followed).toMatchObject({ status: 0, out: expect.stringMatching(/to send +3/) });
    expect(await handbill(here, 'pause --campaign welcome --reason prices')).toMatchObject({ status: 0 });
    expect(pausesIn(here)).toEqual(['hello']);
    expect(await handbill(here, 'send welcome --yes --allow input-changed')).toMatchObject({ status: 5 });
    expect((await handbill(here, 'preview welcome')).err).toContain('paused');
    expect(await handbill(here, 'resume --campaign welcome')).toMatchObject({ status: 0 });
    expect(await handbill(here, 'send welcome --yes --allow input-changed')).toMatchObject({ status: 0 });
    expect(api.numbers().toSorted()).toEqual(PEOPLE);
  });

  it('holds out the same people', async () => {
    using here = project('holdout: 50%\n');
    const heldOut = async (name: string) =>
      (await handbill(here, `preview ${name} --format jsonl`)).out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { decision: string }).decision);
    here.write(
      'campaigns/hello/people.csv',
      `msisdn,name\n${Array.from({ length: 50 }, (_, i) => `+4477009002${String(i).padStart(2, '0')},N\n`).join('')}`,
    );
    const before = await heldOut('hello');
    here.write(FILE, campaign('welcome', 'holdout: 50%\nid: hello\n'));
    expect(await heldOut('welcome')).toEqual(before);
  });

  it('is the same campaign to a machine that still has the older file', async () => {
    using here = project();
    here.write(FILE, campaign('welcome', 'id: hello\n'));
    expect(await handbill(here, 'send welcome --yes')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('hello'));
    expect(await handbill(here, 'send hello --yes')).toMatchObject({ status: 2 });
    await handbill(here, 'send hello --yes --allow input-changed');
    expect(api.numbers()).toHaveLength(4);
    expect(runsIn(here)).toEqual(['hello@once']);
  });
});

describe('a campaign that the ledger knows under another id', () => {
  const LINES = [
    'validate',
    'preview welcome',
    'preview welcome --occurrence next',
    'plan welcome',
    'send welcome --dry-run',
    'send welcome --yes',
    'send welcome --yes --quiet',
    'send welcome --yes --allow input-changed',
    'send welcome --yes --occurrence next',
    'send welcome --yes --test-to +447700900100',
  ];

  async function isRefused(here: TestProject, lines = LINES): Promise<void> {
    api.bodies.length = 0;
    for (const line of lines) {
      const { status, err } = await handbill(here, line);
      expect({ line, status, err }).toMatchObject({ line, status: 2, err: expect.stringContaining('former-name') });
      expect(err).toContain(`${FILE}:1:7`);
      expect(err).toContain('`id: hello`');
      expect(err).toContain('`id: welcome`');
    }
    expect(api.numbers()).toEqual([]);
  }

  it('by its file is refused, in every environment, until an id is written', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 3');
    here.write(FILE, campaign('welcome'));
    await isRefused(here);
    here.write(
      'handbill.yaml',
      `${textOf(here, 'handbill.yaml')}  two:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    );
    for (const environment of ['two', 'sandbox']) {
      const { status, err } = await handbillHere(here.root, ['send', 'welcome', '--yes', '--env', environment], {
        env,
        now: () => NINE,
      });
      expect({ environment, status, err }).toMatchObject({ status: 2, err: expect.stringContaining('former-name') });
    }
    here.write(FILE, campaign('welcome', 'id: hello\n'));
    expect(await handbill(here, 'send welcome --yes --allow input-changed')).toMatchObject({ status: 0 });
    expect(api.numbers()).toEqual([PEOPLE[3]]);
  });

  it('by its name is refused when its id was taken out again, also after two names', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 2');
    for (const name of ['hallo', 'welcome']) {
      here.write('campaigns/hello/moved.yaml', campaign(name, 'id: hello\n'));
      here.write(FILE, '# moved\n');
      expect(await handbill(here, `send ${name} --yes --allow input-changed --limit 1`)).toMatchObject({ status: 0 });
    }
    expect(api.numbers().toSorted()).toEqual(PEOPLE);
    // Neither its file nor its id is known: only the name.
    here.write('campaigns/hello/moved.yaml', '# moved\n');
    here.write(FILE, campaign('welcome'));
    await isRefused(here);
    // An id of its own makes it another campaign.
    here.write(FILE, campaign('welcome', 'id: welcome\n'));
    expect(await handbill(here, 'send welcome --yes')).toMatchObject({ status: 0 });
    expect(api.numbers()).toHaveLength(4);
    // The ledger has known it by that id since, so that it need not be written.
    here.write(FILE, campaign('welcome'));
    expect(await handbill(here, 'preview welcome --occurrence next')).toMatchObject({ status: 0 });
    expect(runsIn(here)).toEqual(['hello@once', 'welcome@once']);
  });

  it('is not due, and no instant is passed over', async () => {
    const schedule = 'schedule: { cron: "0 9 * * *", missed: catch-up }\n';
    using here = project(schedule);
    await handbill(here, 'due --yes');
    here.write(FILE, campaign('welcome', schedule));
    for (const line of ['due --yes', 'due --dry-run']) {
      const { status, err } = await handbill(here, line, NINE + 24 * HOUR_MS);
      expect({ line, status, err }).toMatchObject({ line, status: 2, err: expect.stringContaining('former-name') });
    }
    here.write(FILE, campaign('welcome', `${schedule}id: hello\n`));
    expect(await handbill(here, 'due --yes', NINE + 24 * HOUR_MS)).toMatchObject({ status: 0 });
    expect(api.numbers()).toHaveLength(8);
  });

  it('is refused where another process sends it under its old name while the question waits', async () => {
    using here = project();
    here.write(FILE, campaign('welcome'));
    const plan = await planOf(here);
    here.write(FILE, campaign('hello'));
    const sent = sendPlan(
      plan,
      asked(here, () => handbill(here, 'send hello --yes')),
      createMemory(),
    );
    await expect(sent).rejects.toThrow('is that of the campaign with the id "hello"');
    expect(api.numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual(['hello@once']);
  });

  it('is known by its file also after the project was moved with its ledger', async () => {
    using here = project();
    await handbill(here, 'send hello --yes');
    here.write(FILE, campaign('welcome'));
    const moved = `${here.root}-moved`;
    renameSync(here.root, moved);
    try {
      const { status, err } = await handbillHere(moved, ['send', 'welcome', '--yes', '--env', 'api'], {
        env,
        now: () => NINE,
      });
      expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('former-name') });
    } finally {
      renameSync(moved, here.root);
    }
  });

  it('is another one in a second project with the same ledger', async () => {
    using here = project();
    using second = project();
    const ledger = here.path('shared.db');
    second.write(FILE, campaign('welcome'));
    expect(await handbill(here, `send hello --yes --ledger ${ledger}`)).toMatchObject({ status: 0 });
    expect(await handbill(second, `send welcome --yes --ledger ${ledger}`)).toMatchObject({ status: 0 });
    expect(api.numbers()).toHaveLength(8);
  });

  it('is not meant where its file is gone and another one has its place', async () => {
    using here = project();
    await handbill(here, 'send hello --yes');
    here.write('campaigns/moved/campaign.yaml', campaign('hello'));
    here.write('campaigns/moved/people.csv', LIST);
    here.write(FILE, '# moved\n');
    expect(await handbill(here, 'send campaigns/moved --yes --occurrence two')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('welcome'));
    expect(await handbill(here, 'send welcome --yes')).toMatchObject({ status: 0 });
  });
});

describe('a name that no file has', () => {
  it('means the campaign that was last sent under it', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 1');
    here.write(FILE, campaign('welcome', 'id: hello\n'));
    await handbill(here, 'send welcome --yes --allow input-changed --limit 2');
    here.write(FILE, '# gone\n');
    here.write('campaigns/other/people.csv', LIST);
    here.write('campaigns/other/campaign.yaml', campaign('other', 'exclude: welcome\n'));
    expect((await handbill(here, 'preview other')).out).toContain('3 excluded');
    here.write('campaigns/other/campaign.yaml', campaign('other', 'exclude: [welcome@once]\n'));
    expect((await handbill(here, 'preview other')).out).toContain('3 excluded');
    here.write('campaigns/other/campaign.yaml', campaign('other', 'exclude: hello\n'));
    const strange = await handbill(here, 'preview other');
    expect(strange).toMatchObject({ status: 2, err: expect.stringContaining('campaign-not-found') });
    expect((await handbill(here, 'report welcome')).out).toContain('welcome · api · once');
    expect(await handbill(here, 'pause --campaign welcome --reason prices')).toMatchObject({ status: 0 });
    expect(pausesIn(here)).toEqual(['hello']);
    expect((await handbill(here, 'runs')).out).toContain('welcome in api has been paused');
    expect(await handbill(here, 'resume --campaign welcome')).toMatchObject({ status: 0 });
    expect(pausesIn(here)).toEqual([]);
  });
});

it.each([
  [
    'the name of another',
    'id: other\n',
    'name: other\n',
    'The id "other" is the name of campaigns/other/campaign.yaml',
  ],
  ['the id of another', 'id: x\n', 'id: x\nname: other\n', 'The id "x" is the id of campaigns/other/campaign.yaml'],
  ['a name that is the id of another', '', 'id: hello\nname: other\n', 'The name "hello" is the id of campaigns/other'],
])('two campaigns are not one: %s', async (_, keys, other, said) => {
  using here = project(keys);
  here.write('campaigns/other/campaign.yaml', campaign('other').replace('name: other\n', other));
  here.write('campaigns/other/people.csv', LIST);
  const { status, err } = await handbill(here, 'validate campaigns/hello');
  expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining(said) });
  expect(err).toContain('duplicate-campaign-name');
});

it('an id has the form of a name', async () => {
  using here = project('id: Old Name\n');
  expect(await handbill(here, 'validate')).toMatchObject({ status: 2, err: expect.stringContaining('lower-case') });
});
