import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const campaign = (name: string): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: message.hbs\nrecipients: people.csv\n`;
const LIST = 'msisdn,first_name\n+447911123456,Ada\n';
const FILES = {
  'handbill.yaml': 'partials: partials\n',
  'partials/greeting.hbs': 'Hello {{first_name}}',
  'campaigns/hello/campaign.yaml': campaign('hello'),
  'campaigns/hello/message.hbs': '{{> greeting}}, your table is ready.',
  'campaigns/hello/people.csv': LIST,
  'campaigns/other/campaign.yaml': campaign('other'),
  'campaigns/other/message.hbs': 'Hi {{first_name}}.',
  'campaigns/other/people.csv': LIST,
};
const HELLO = 'campaigns/hello/message.hbs';

let project: TestProject;
let running: RunningCli | null = null;

beforeEach(() => {
  project = createProject(FILES);
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.done;
  running = null;
  project[Symbol.dispose]();
});

const WAITING = /^\[\d\d:\d\d:\d\d\] (.*)\. Waiting for changes; Ctrl-C ends\.$/gm;

/** What each look came to, such as `2 campaigns, 0 errors`. */
function rounds(): readonly string[] {
  return [...(running?.stderr() ?? '').matchAll(WAITING)].map(([, said = '']) => said);
}

/** The campaigns that were looked at since some place of stdout. */
function lookedAt(since: number): readonly string[] {
  return [...(running?.stdout().slice(since) ?? '').matchAll(/^campaigns\/(\w+)\//gm)].map(([, name = '']) => name);
}

async function start(...args: readonly string[]): Promise<void> {
  running = startCli(['validate', '--watch', ...args], { cwd: project.root });
  await until('the first look', () => rounds().length === 1);
}

/** Does something to the files and waits until a look says what is expected. */
async function edited(edit: () => void, expected: string): Promise<void> {
  const before = rounds().length;
  edit();
  await until(
    `"${expected}" after ${JSON.stringify(rounds())}`,
    () => rounds().slice(before).at(-1) === expected,
    10_000,
  );
}

describe('checks once, and again', () => {
  it('when a template changes, only that campaign, saying what changed', async () => {
    await start();
    expect(rounds()).toEqual(['2 campaigns, 0 errors']);
    expect(lookedAt(0)).toEqual(['hello', 'other']);
    const printed = running?.stdout().length ?? 0;
    await edited(() => project.write('campaigns/other/message.hbs', 'Hi {{nobody}}.'), '2 campaigns, 1 error');
    expect(lookedAt(printed)).toEqual(['other']);
    expect(running?.stderr()).toMatch(/^\[\d\d:\d\d:\d\d\] Changed: campaigns\/other\/message\.hbs$/m);
    expect(running?.stderr()).toContain('unknown-name');
    await edited(() => project.write('campaigns/other/message.hbs', 'Hi {{first_name}}.'), '2 campaigns, 0 errors');
  });

  it('when a campaign, a list, a partial or the project file becomes wrong: those that it belongs to', async () => {
    await start();
    for (const [path, text, looked] of [
      ['campaigns/hello/campaign.yaml', campaign('Hello'), ['hello']],
      ['campaigns/hello/people.csv', 'msisdn,first_name\n12,Ada\n', ['hello']],
      ['partials/greeting.hbs', 'Hello {{nobody}}', ['hello']],
      ['handbill.yaml', 'partial: partials\n', ['hello', 'other']],
    ] as const) {
      const printed = running?.stdout().length ?? 0;
      const before = rounds().length;
      project.write(path, text);
      await until(`a look after ${path}`, () => rounds().length > before);
      expect(rounds().at(-1), path).toMatch(/^2 campaigns, [1-9]\d* errors?$/);
      expect(lookedAt(printed), path).toEqual(looked);
      await edited(() => project.write(path, FILES[path]), '2 campaigns, 0 errors');
    }
  });

  it('when a campaign is new', async () => {
    await start();
    const printed = running?.stdout().length ?? 0;
    await edited(() => project.write('campaigns/third/campaign.yaml', 'name: third\n'), '3 campaigns, 3 errors');
    expect(lookedAt(printed)).toEqual(['hello', 'other', 'third']);
  });

  it('when a suppression list changes that a campaign names', async () => {
    project.write('campaigns/hello/campaign.yaml', `${campaign('hello')}suppressions: optouts.csv\n`);
    project.write('campaigns/hello/optouts.csv', 'msisdn\n+447911123457\n');
    await start();
    await edited(() => project.write('campaigns/hello/optouts.csv', 'phone\nx\n'), '2 campaigns, 1 error');
  });

  it('when a list changes that lies elsewhere', async () => {
    using elsewhere = createProject({ 'people.csv': LIST });
    await start('hello', '--recipients', elsewhere.path('people.csv'));
    expect(rounds()).toEqual(['1 campaign, 0 errors']);
    await edited(() => elsewhere.write('people.csv', `${LIST}12,Bo\n`), '1 campaign, 1 error');
  });
});

describe('survives', () => {
  it('a file that is deleted and comes back, and one that is replaced by a rename', async () => {
    await start();
    await edited(() => unlinkSync(project.path(HELLO)), '2 campaigns, 1 error');
    expect(running?.stderr()).toContain('file-not-found');
    await edited(() => project.write(HELLO, 'Hi {{nobody}}'), '2 campaigns, 1 error');
    await edited(() => {
      project.write('campaigns/hello/message.hbs.new', 'Hi {{first_name}}');
      renameSync(project.path('campaigns/hello/message.hbs.new'), project.path(HELLO));
    }, '2 campaigns, 0 errors');
    // And once more: what is watched is the name, not the file that is gone.
    await edited(() => {
      project.write('campaigns/hello/message.hbs.new', 'Hi {{nobody}}');
      renameSync(project.path('campaigns/hello/message.hbs.new'), project.path(HELLO));
    }, '2 campaigns, 1 error');
  });

  it('a file that is written in pieces', async () => {
    await start();
    const text = campaign('hello');
    const pieces = [text.slice(0, 12), text.slice(12, 40), text.slice(40)];
    writeFileSync(project.path('campaigns/hello/campaign.yaml'), '');
    for (const piece of pieces) {
      appendFileSync(project.path('campaigns/hello/campaign.yaml'), piece);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await until('a look at the whole file', () => rounds().length > 1 && rounds().at(-1) === '2 campaigns, 0 errors');
  });

  it('folders that are removed and come back', async () => {
    await start();
    await edited(() => rmSync(project.path('campaigns/other'), { recursive: true }), '1 campaign, 0 errors');
    await edited(() => rmSync(project.path('campaigns'), { recursive: true }), '0 campaigns, 1 error');
    expect(running?.stderr()).toContain('campaign-not-found');
    await edited(() => {
      for (const [path, text] of Object.entries(FILES)) project.write(path, text);
    }, '2 campaigns, 0 errors');
  });

  it('links: to a file that changes, and to another file', async () => {
    project.write('shared/a.hbs', 'A {{first_name}}');
    project.write('shared/b.hbs', 'B {{nobody}}');
    unlinkSync(project.path(HELLO));
    symlinkSync('../../shared/a.hbs', project.path(HELLO));
    // A link to a folder above has no end when it is followed.
    symlinkSync('..', project.path('campaigns/loop'));
    await start();
    expect(rounds()).toEqual(['2 campaigns, 0 errors']);
    await edited(() => project.write('shared/a.hbs', 'A {{nobody}}'), '2 campaigns, 1 error');
    await edited(() => project.write('shared/a.hbs', 'A {{first_name}}'), '2 campaigns, 0 errors');
    await edited(() => {
      symlinkSync('../../shared/b.hbs', project.path('campaigns/hello/next'));
      renameSync(project.path('campaigns/hello/next'), project.path(HELLO));
    }, '2 campaigns, 1 error');
  });
});

describe('is silent', () => {
  it('about what an editor leaves beside a file, the ledger, and files of others', async () => {
    await start();
    const beside = ['.message.hbs.swp', 'message.hbs~', '4913', '#message.hbs#', '.#message.hbs', 'message.hbs.tmp'];
    for (const name of beside) project.write(`campaigns/hello/${name}`, 'x');
    project.write('.handbill/ledger.csv', 'x');
    project.write('node_modules/campaigns/x/campaign.yaml', 'name: x\n');
    project.write('README.md', 'x');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(rounds().length).toBe(1);
    // It was listening all the time.
    await edited(() => project.write(HELLO, 'Hi {{nobody}}'), '2 campaigns, 1 error');
  });

  it('with --quiet, while all is well', async () => {
    project.write(HELLO, 'Hi {{nobody}}');
    await start('--quiet');
    const said = running?.stderr().length;
    const printed = running?.stdout().length;
    project.write(HELLO, 'Hi {{first_name}}');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([running?.stderr().slice(said), running?.stdout().slice(printed)]).toEqual(['', '']);
    await edited(() => project.write(HELLO, 'Hi {{nobody}}'), '2 campaigns, 1 error');
  });
});

describe('ends', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s with status %i, whatever it found', async (signal, status) => {
    project.write(HELLO, 'Hi {{nobody}}');
    await start();
    running?.kill(signal);
    expect(await running?.done).toMatchObject({ status, signal: null });
  });

  test.each([['--format json'], ['-o found.txt']])('at once with %s', async (args) => {
    const { status, stderr } = await runHere(['validate', '--watch', ...args.split(' ')], { cwd: project.root });
    expect(status).toBe(2);
    expect(stderr).toContain('--watch prints text to the terminal, and nothing else.');
  });

  it('never without a signal, in a project without a campaign', async () => {
    rmSync(project.path('campaigns'), { recursive: true });
    await start();
    expect(rounds()).toEqual(['0 campaigns, 1 error']);
    mkdirSync(project.path('campaigns/hello'), { recursive: true });
    await edited(() => {
      for (const [path, text] of Object.entries(FILES)) project.write(path, text);
    }, '2 campaigns, 0 errors');
  });
});
