import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { sendPlan } from '../../src/operations/send-once.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { createMemory } from '../../src/send/memory.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NINE = Date.parse('2026-11-23T09:00:05Z');
const HOUR_MS = 3_600_000;

interface Received {
  readonly recipients: readonly { readonly msisdn: string; readonly metaData: { readonly handbill: string } }[];
}

let received: Received[] = [];
const api = createServer((request, response) => {
  let text = '';
  request.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  request.on('end', () => {
    received.push(JSON.parse(text) as Received);
    response.writeHead(202, { 'content-type': 'application/json' }).end(`{"id":"m-${received.length}"}`);
  });
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
});
beforeEach(() => {
  received = [];
});

const numbers = () => received.flatMap(({ recipients }) => recipients.map(({ msisdn }) => msisdn));

const PEOPLE = [0, 1, 2, 3].map((i) => `+44770090020${i}`);
const LIST = `msisdn,name\n${PEOPLE.map((to) => `${to},Name\n`).join('')}`;
const FILE = 'campaigns/hello/campaign.yaml';

const campaign = (name: string, more = ''): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: ../hello.hbs\nrecipients: people.csv\n${more}`;

function project(more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${url}\n    apiKey: { env: KEY }\n`,
    'campaigns/hello.hbs': 'Hi {{name}}',
    [FILE]: campaign('hello', more),
    'campaigns/hello/people.csv': LIST,
  });
}

const env = { KEY: 'secret' };

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

async function planOf(here: TestProject, file: string, occurrence: string, formerly?: readonly string[]) {
  const { campaign: loaded } = await loadCampaign(file, { cwd: here.root, now: NINE });
  const known = formerly === undefined ? loaded : { ...loaded, formerly };
  return await createPlan(known, { environment: 'api', occurrence, nowMs: NINE });
}

/** The plan of `welcome`, formerly `hello`, while the older file is there for other processes. */
async function renamed(here: TestProject) {
  here.write('campaigns/new/campaign.yaml', campaign('welcome'));
  here.write('campaigns/new/people.csv', LIST);
  return await planOf(here, 'campaigns/new/campaign.yaml', 'once', ['hello']);
}

/** Says yes after something has happened. */
function asked(here: TestProject, meanwhile: () => Promise<unknown> = async () => undefined) {
  const confirm = async (): Promise<boolean> => {
    await meanwhile();
    return true;
  };
  return { cwd: here.root, env, now: () => NINE, confirm };
}

describe('a campaign that was renamed', () => {
  it.each(['once', 'monday'])('continues and finishes the run of its former name: %s', async (occurrence) => {
    using here = project();
    await handbill(here, `send hello --yes --limit 1 --occurrence ${occurrence}`);
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    const line = `send welcome --yes${occurrence === 'once' ? '' : ` --occurrence ${occurrence}`}`;
    // The file has changed, as it may for any reason.
    expect(await handbill(here, line)).toMatchObject({ status: 2, err: expect.stringContaining('input-changed') });
    expect(await handbill(here, `${line} --allow input-changed`)).toMatchObject({ status: 0 });
    expect(numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual([`hello@${occurrence}`]);
    expect((await handbill(here, `${line} --allow input-changed`)).out).not.toContain('5 requests');
    expect(numbers()).toHaveLength(4);
    expect((await handbill(here, 'report welcome')).out).toContain(`hello · api · ${occurrence}`);
    expect(await handbill(here, `preview welcome --occurrence ${occurrence} --quiet`)).toMatchObject({ status: 0 });
  });

  it('begins new occurrences under its new name, and moves with its folder', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --occurrence monday');
    here.write('campaigns/welcome/campaign.yaml', campaign('welcome', 'formerly: [hello]\nlimits: { change: 30% }\n'));
    here.write('campaigns/welcome/people.csv', LIST);
    here.write(FILE, '# moved\n');
    expect(await handbill(here, 'send welcome --yes --occurrence tuesday')).toMatchObject({ status: 0, err: '' });
    expect(runsIn(here)).toEqual(['hello@monday', 'welcome@tuesday']);
    // The guards of the list compare with the last list, whatever the campaign was called.
    here.write('campaigns/welcome/people.csv', LIST.split('\n').slice(0, 2).join('\n'));
    const short = await handbill(here, 'send welcome --yes --occurrence wednesday');
    expect(short).toMatchObject({ status: 2, err: expect.stringContaining('75% fewer than the 4 of tuesday') });
    expect(await handbill(here, 'send welcome --yes --occurrence monday')).toMatchObject({ status: 2 });
    expect(numbers()).toHaveLength(8);
  });

  it('is not due again for an instant that its former name was sent for', async () => {
    const schedule = 'schedule: { cron: "0 9 * * *", missed: catch-up }\n';
    using here = project(schedule);
    expect(await handbill(here, 'due --yes')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('welcome', `${schedule}formerly: hello\n`));
    const again = await handbill(here, 'due --yes', NINE + HOUR_MS / 4);
    expect(again).toMatchObject({ status: 0, err: expect.stringContaining('Nothing is due') });
    expect(numbers()).toHaveLength(4);
    expect(await handbill(here, 'due --yes', NINE + 24 * HOUR_MS)).toMatchObject({ status: 0 });
    expect(runsIn(here)).toEqual(['hello@2026-11-23T09:00:00Z', 'welcome@2026-11-24T09:00:00Z']);
  });

  it('is the one that others exclude, under both names', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 3');
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    here.write('campaigns/other/people.csv', LIST);
    for (const exclude of ['welcome', 'hello', 'welcome@once']) {
      here.write('campaigns/other/campaign.yaml', campaign('other', `exclude: ${exclude}\n`));
      const { out, err } = await handbill(here, 'preview other');
      expect({ exclude, out }).toMatchObject({ exclude, out: expect.stringContaining('3 excluded') });
      expect(err).not.toContain('run-not-found');
    }
    // Recipients of the new name are left out by the former one as well.
    expect(await handbill(here, 'send welcome --yes --occurrence two')).toMatchObject({ status: 0 });
    for (const exclude of ['welcome', 'hello', 'hello@two', '[hello, welcome@once]']) {
      here.write('campaigns/other/campaign.yaml', campaign('other', `exclude: ${exclude}\n`));
      const { out, err } = await handbill(here, 'preview other');
      expect({ exclude, out }).toMatchObject({ exclude, out: expect.stringContaining('4 excluded') });
      expect(err).not.toContain('run-not-found');
    }
  });

  it('is paused under both names, whichever was paused', async () => {
    using here = project();
    const paused = (name: string) => handbill(here, `pause --campaign ${name} --reason prices`);
    await handbill(here, 'send hello --yes --limit 1');
    expect(await paused('hello')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    for (const occurrence of ['once', 'next']) {
      expect(await handbill(here, `send welcome --yes --allow input-changed --occurrence ${occurrence}`)).toMatchObject(
        {
          status: 5,
        },
      );
      expect((await handbill(here, `preview welcome --occurrence ${occurrence}`)).err).toContain('paused');
    }
    expect(await handbill(here, 'resume --campaign welcome')).toMatchObject({ status: 0 });
    expect(await paused('welcome')).toMatchObject({ status: 0 });
    // A worker asks for the run, which has the former name.
    expect(pausesIn(here)).toEqual(['welcome', 'hello']);
    expect(numbers()).toHaveLength(1);
    await handbill(here, 'resume --campaign welcome');
    expect(await handbill(here, 'send welcome --yes --allow input-changed')).toMatchObject({ status: 0 });
    expect(numbers().toSorted()).toEqual(PEOPLE);
  });

  it('is paused and resumed by a former name while it sends under the new one', async () => {
    using here = project();
    await handbill(here, 'send hello --yes');
    const former = 'formerly: [hi, hello]\nsend: { concurrency: 1 }\n';
    here.write(FILE, campaign('welcome', former));
    const plan = await planOf(here, FILE, 'two');
    // The question is asked after the last look at pauses: only the claims see this one.
    for (const name of ['hello', 'hi', 'welcome']) {
      const end = await sendPlan(
        plan,
        asked(here, () => handbill(here, `pause --campaign ${name} --reason prices`)),
        createMemory(),
      );
      expect({ name, exit: end.exit }).toEqual({ name, exit: 5 });
      expect(pausesIn(here)).toEqual(['welcome', 'hi', 'hello']);
      expect(await handbill(here, `resume --campaign ${name}`)).toMatchObject({ status: 0 });
      expect(pausesIn(here)).toEqual([]);
    }
    expect(numbers()).toHaveLength(4);
    expect(await handbill(here, 'send welcome --yes --occurrence two')).toMatchObject({ status: 0 });
    expect(numbers()).toHaveLength(8);
  });

  it('has the same people held out', async () => {
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
    here.write(FILE, campaign('welcome', 'holdout: 50%\nformerly: [hello, hi]\n'));
    expect(await heldOut('welcome')).toEqual(before);
  });

  it('refuses an occurrence that a process with the older file began meanwhile', async () => {
    using here = project();
    const plan = await renamed(here);
    await handbill(here, 'send hello --yes');
    await expect(sendPlan(plan, asked(here), createMemory())).rejects.toThrow('under the former name hello');
    expect(numbers()).toHaveLength(4);
  });

  it('keeps a process with the older file from the occurrence while its question waits', async () => {
    using here = project();
    const plan = await renamed(here);
    let other: unknown;
    const whileItWaits = async (): Promise<void> => {
      other = await handbill(here, 'send hello --yes');
    };
    expect(await sendPlan(plan, asked(here, whileItWaits), createMemory())).toMatchObject({ exit: 0 });
    expect(other).toMatchObject({ status: 6, err: expect.stringContaining(`process ${process.pid}`) });
    expect(numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual(['welcome@once']);
    // All locks are free again.
    expect(await handbill(here, 'send hello --yes --occurrence next')).toMatchObject({ status: 0 });
  });

  it('does not begin while a process with the older file is at the occurrence, before its run can be seen', async () => {
    using here = project();
    const plan = await renamed(here);
    const older = await planOf(here, FILE, 'once');
    let refused: unknown;
    const whileItWaits = async (): Promise<void> => {
      refused = await sendPlan(plan, asked(here), createMemory()).catch((error: unknown) => error);
    };
    expect(await sendPlan(older, asked(here, whileItWaits), createMemory())).toMatchObject({ exit: 0 });
    expect(refused).toMatchObject({ exit: 6 });
    expect(numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual(['hello@once']);
  });

  it('looks again once the question is answered, in case its locks were lost', async () => {
    using here = project();
    const plan = await renamed(here);
    const whileItWaits = async (): Promise<void> => {
      rmSync(here.path('.handbill/locks'), { recursive: true });
      expect(await handbill(here, 'send hello --yes')).toMatchObject({ status: 0 });
    };
    const sent = sendPlan(plan, asked(here, whileItWaits), createMemory());
    await expect(sent).rejects.toThrow('under the former name hello');
    expect(numbers().toSorted()).toEqual(PEOPLE);
    expect(runsIn(here)).toEqual(['hello@once']);
  });
});

describe('a process with the older file, after the renamed campaign was sent', () => {
  const older = (here: TestProject, more = ''): void => here.write(FILE, campaign('hello', more));

  /** The campaign was sent under its new name, and the older file is back. */
  async function sentAsWelcome(here: TestProject, line = 'send welcome --yes', more = ''): Promise<void> {
    here.write(FILE, campaign('welcome', `${more}formerly: [hi, hello]\n`));
    expect(await handbill(here, line)).toMatchObject({ status: 0 });
    older(here, more);
    received = [];
  }

  it.each(['once', 'monday'])('does not send the occurrence again: %s', async (occurrence) => {
    using here = project();
    const named = occurrence === 'once' ? '' : ` --occurrence ${occurrence}`;
    await sentAsWelcome(here, `send welcome --yes${named}`);
    for (const line of [
      'send hello --yes',
      'send hello --yes --allow input-changed',
      'preview hello',
      'plan hello',
      'send hello --dry-run',
    ]) {
      const { status, err } = await handbill(here, `${line}${named}`);
      expect({ line, status, err }).toMatchObject({ status: 2, err: expect.stringContaining('former-name') });
      expect(err).toContain('was begun as welcome, which hello is called by now (run welcome-');
    }
    expect(numbers()).toEqual([]);
    expect(runsIn(here)).toEqual([`welcome@${occurrence}`]);
    // Of another occurrence nothing is known.
    expect(await handbill(here, 'send hello --yes --occurrence next')).toMatchObject({ status: 0 });
    expect(numbers()).toHaveLength(4);
  });

  it('does not go on with what the newer one left', async () => {
    using here = project();
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    await handbill(here, 'send welcome --yes --limit 1');
    older(here);
    expect(await handbill(here, 'send hello --yes --allow input-changed')).toMatchObject({ status: 2 });
    expect(numbers()).toHaveLength(1);
  });

  it('finds the name that an amendment brought', async () => {
    using here = project();
    here.write(FILE, campaign('welcome'));
    await handbill(here, 'send welcome --yes --limit 1');
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    expect(await handbill(here, 'send welcome --yes --allow input-changed')).toMatchObject({ status: 0 });
    older(here);
    expect(await handbill(here, 'send hello --yes')).toMatchObject({ status: 2 });
    expect(numbers()).toHaveLength(4);
  });

  it('has nothing due for an instant that was sent, and does not halt a run that goes on', async () => {
    const schedule = 'schedule: { cron: "0 9 * * *", missed: catch-up }\n';
    using here = project(schedule);
    await handbill(here, 'due --yes', NINE - 24 * HOUR_MS);
    await sentAsWelcome(here, 'due --yes', schedule);
    const again = await handbill(here, 'due --yes', NINE + HOUR_MS / 4);
    expect(again).toMatchObject({ status: 0, err: expect.stringContaining('Nothing is due') });
    here.write(FILE, campaign('welcome', `${schedule}formerly: hello\n`));
    await handbill(here, 'send welcome --yes --limit 1 --occurrence 2026-11-24T09:00:00Z', NINE + 24 * HOUR_MS);
    older(here, schedule);
    expect(await handbill(here, 'due --yes', NINE + 24 * HOUR_MS)).toMatchObject({ status: 0 });
    const { out } = await handbill(here, 'runs --format json');
    expect((JSON.parse(out) as { readonly runs: readonly { readonly state: string }[] }).runs[0]?.state).toBe(
      'partial',
    );
    expect(numbers()).toHaveLength(1);
  });

  it('excludes and follows its recipients by the older name, and is not warned about', async () => {
    using here = project();
    await sentAsWelcome(here);
    here.write('campaigns/other/people.csv', LIST);
    for (const exclude of ['hello', 'hi', 'hello@once', 'welcome']) {
      here.write('campaigns/other/campaign.yaml', campaign('other', `exclude: ${exclude}\n`));
      const { out, err } = await handbill(here, 'preview other');
      expect({ exclude, out }).toMatchObject({ exclude, out: expect.stringContaining('4 excluded') });
      expect(err).not.toContain('run-not-found');
    }
    here.write('campaigns/other/campaign.yaml', campaign('other', 'after: { campaign: hello, wait: 1h }\n'));
    const { out, err } = await handbill(here, 'preview other', NINE + 2 * HOUR_MS);
    expect({ out, err }).toMatchObject({ out: expect.stringContaining('4') });
    expect(err).not.toContain('was not sent');
    expect((await handbill(here, 'preview hello --occurrence next')).err).not.toContain('history-abandoned');
  });

  it('pauses the run of the newer name as well', async () => {
    using here = project();
    await sentAsWelcome(here, 'send welcome --yes --limit 1');
    expect(await handbill(here, 'pause --campaign hello --reason prices')).toMatchObject({ status: 0 });
    here.write(FILE, campaign('welcome', 'formerly: [hi, hello]\n'));
    expect(pausesIn(here)).toContain('welcome');
    expect(await handbill(here, 'send welcome --yes')).toMatchObject({ status: 5 });
  });

  it('is refused where the newer one sent the occurrence while the question waited', async () => {
    using here = project();
    const plan = await planOf(here, FILE, 'once');
    await sentAsWelcome(here);
    await expect(sendPlan(plan, asked(here), createMemory())).rejects.toThrow('was begun as welcome');
    expect(numbers()).toEqual([]);
  });
});

describe('a new name without formerly', () => {
  it('is warned about by every command that shows or sends, with the number of recipients', async () => {
    using here = project();
    await handbill(here, 'send hello --yes --limit 3');
    here.write(FILE, campaign('welcome'));
    const said = 'warning[history-abandoned]: 3 recipients of the list have had a message of hello (run hello-';
    for (const line of [
      'validate',
      'preview welcome',
      'plan welcome',
      'send welcome --dry-run',
      'send welcome --yes',
    ]) {
      const { status, err } = await handbill(here, line);
      expect({ line, status }).toEqual({ line, status: 0 });
      expect(err).toContain(said);
      expect(err).toContain('`formerly: [hello]`');
      expect(err).toContain(`${FILE}:1:7`);
    }
    // It was sent, and the next one is not warned about: the recipients have had this campaign.
    here.write(FILE, campaign('welcome', 'formerly: hello\n'));
    expect((await handbill(here, 'preview welcome --occurrence next')).err).not.toContain('history-abandoned');
  });

  it('is found by the template in another folder, and is nothing where the people or the text are others', async () => {
    using here = project();
    await handbill(here, 'send hello --yes');
    here.write('campaigns/new/campaign.yaml', campaign('welcome'));
    here.write('campaigns/new/people.csv', LIST);
    // The campaign of the run is there still.
    expect((await handbill(here, 'validate')).err).not.toContain('history-abandoned');
    here.write(FILE, '# gone\n');
    expect((await handbill(here, 'preview welcome')).err).toContain('history-abandoned');
    here.write('campaigns/new/people.csv', 'msisdn,name\n+447700900299,Zoe\n');
    expect((await handbill(here, 'preview welcome')).err).not.toContain('history-abandoned');
    here.write('campaigns/new/people.csv', LIST);
    here.write('campaigns/hello.hbs', 'Another {{name}}');
    expect((await handbill(here, 'preview welcome')).err).not.toContain('history-abandoned');
  });
});

it.each([
  ['its own name', 'formerly: hello\n', 'is the name of this campaign'],
  ['the name of another', 'formerly: [old, other]\n', 'is the name of campaigns/other/campaign.yaml'],
  ['a former name of another', 'formerly: older\n', 'is a former name of campaigns/other/campaign.yaml as well'],
  ['no name', 'formerly: Old Name\n', 'lower-case'],
])('a campaign cannot have been called %s', async (_, keys, said) => {
  using here = project(keys);
  here.write('campaigns/other/campaign.yaml', campaign('other', 'formerly: older\n'));
  here.write('campaigns/other/people.csv', LIST);
  const { status, err } = await handbill(here, 'validate campaigns/hello');
  expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining(said) });
  expect(err).toMatch(/campaigns\/hello\/campaign\.yaml:6:1\d/);
});
