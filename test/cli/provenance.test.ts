import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createRepository, HELLO, NOW, type Repository } from '../diff/repository.ts';
import { handbillHere } from './in-process.ts';

const KEY = 'a-key-of-the-test';
const TEMPLATE = 'campaigns/hello/hello.hbs';
const SCHEDULED = `${HELLO['campaigns/hello/campaign.yaml'].replace('hello\n', 'daily\n')}schedule: { cron: "0 9 * * *", timeZone: UTC }\n`;

let api: Sandbox;
let repository: Repository;
let head: string;
beforeAll(async () => {
  api = await startSandbox({ apiKey: KEY, keep: 0 });
});
afterAll(() => api.close());
beforeEach(() => {
  repository = createRepository({});
  head = repository.commit({
    ...HELLO,
    '.gitignore': '.handbill/\n*.json\n',
    'handbill.yaml': `testers: ["+447700900009"]
environments:
  production:
    baseUrl: ${api.url}
    apiKey: { env: HANDBILL_API_KEY }
    git: { clean: true, branch: main }
`,
    'campaigns/daily/campaign.yaml': SCHEDULED.replace('hello.hbs', '../hello/hello.hbs').replace(
      'people.csv',
      '../hello/people.csv',
    ),
  });
});
afterEach(() => repository[Symbol.dispose]());

const run = (...args: readonly string[]) =>
  handbillHere(repository.root, args, {
    env: { HANDBILL_API_KEY: KEY, PATH: process.env['PATH'], HOME: dirname(repository.root) },
    now: () => NOW + 60_000,
  });

interface Summary {
  readonly commits?: readonly { readonly commit: string; readonly branch: string | null; readonly clean: boolean }[];
  readonly inputs: readonly { readonly role: string; readonly sha256: string }[];
}

const summary = async (): Promise<Summary> => JSON.parse((await run('report', 'hello', '--format', 'json')).out);

describe('an environment that asks for a commit', () => {
  it('takes the branch with clean files', async () => {
    expect(await run('send', 'hello', '--env', 'production', '--yes')).toMatchObject({ status: 0 });
    expect((await summary()).commits).toEqual([{ commit: head, branch: 'main', clean: true }]);
  });

  it.each([
    ['send', 'send', 'hello', '--env', 'production', '--yes'],
    ['a dry run', 'send', 'hello', '--env', 'production', '--dry-run'],
    ['preview', 'preview', 'hello', '--env', 'production'],
    ['plan', 'plan', 'hello', '--env', 'production'],
    ['due', 'due', 'daily', '--env', 'production', '--yes'],
    ['a dry run of due', 'due', 'daily', '--env', 'production', '--dry-run'],
  ])('is refused by %s from another branch with a changed template, each said once', async (_, ...args) => {
    // So that an instant is due.
    if (args[0] === 'due') {
      const ledger = openLedger(join(repository.root, '.handbill/ledger.db'), { mode: 'write', nowMs: 0 });
      ledger.seeSchedules([
        [
          { environment: 'production', campaign: 'daily' },
          { schedule: '["0 9 * * *","UTC"]', seenMs: 1 },
        ],
      ]);
      ledger.close();
    }
    repository.git('switch', '--quiet', '--create', 'topic');
    repository.write({ [TEMPLATE]: 'Dear {{name}}, you owe {{amount}}.' });
    const before = api.received;
    const { status, out, err } = await run(...args);
    expect(status).toBe(2);
    const said = out + err;
    expect(said.match(/only, and this is topic\./g)).toHaveLength(1);
    expect(said.match(/not as committed: campaigns\/hello\/hello\.hbs/g)).toHaveLength(1);
    expect(said).toContain('handbill.yaml:6:10');
    expect(said).toContain('git switch main');
    expect(api.received).toBe(before);
  });

  it('refuses to continue a run from there too', async () => {
    expect((await run('send', 'hello', '--env', 'production', '--yes', '--limit', '1')).status).toBe(0);
    repository.git('switch', '--quiet', '--create', 'topic');
    expect(await run('send', 'hello', '--env', 'production', '--yes')).toMatchObject({ status: 2 });
    expect((await summary()).commits).toHaveLength(1);
  });

  it('takes a test from anywhere to its testers, and to no other address', async () => {
    repository.git('switch', '--quiet', '--create', 'topic');
    const test = ['send', 'hello', '--env', 'production', '--yes', '--test-to'];
    expect(await run(...test)).toMatchObject({ status: 0 });
    const other = await run(...test, '+447700900008');
    expect(other.status).toBe(2);
    expect(other.err).toContain('commit-refused');
  });

  it('says where the rule itself is wrong', async () => {
    repository.write({
      'handbill.yaml':
        'environments:\n  production:\n    baseUrl: https://api.example.com\n    apiKey: { env: KEY }\n    git: { clean: "yes", branches: main }\n',
    });
    const { status, err } = await run('send', 'hello');
    expect(status).toBe(2);
    expect(err).toContain('handbill.yaml:5:19');
    expect(err).toContain('Did you mean "branch"');
  });
});

describe('what is kept of each start', () => {
  it('every commit once, with the hashes of the files, in all reports', async () => {
    await run('send', 'hello', '--limit', '1');
    repository.write({ 'README.md': 'more' });
    const second = repository.commit({});
    await run('send', 'hello', '--limit', '1');
    await run('send', 'hello', '--limit', '1');
    const { commits, inputs } = await summary();
    expect(commits).toEqual([
      { commit: head, branch: 'main', clean: true },
      { commit: second, branch: 'main', clean: true },
    ]);
    expect(inputs.map(({ role }) => role).sort()).toEqual(['campaign', 'recipients', 'settings', 'template']);
    const text = (await run('report', 'hello')).out;
    expect(text).toContain(`  Commit  ${head.slice(0, 12)} on main\n`);
    const page = (await run('report', 'hello', '--format', 'html')).out;
    expect(page).toContain(`${second.slice(0, 12)} on main`);
    expect(page).toContain(inputs[0]?.sha256.slice(0, 12));
  });

  it('a start with changes says so, and is another one than that without', async () => {
    await run('send', 'hello', '--limit', '1');
    repository.write({ [TEMPLATE]: 'Dear {{name}}, you owe {{amount}}.' });
    await run('send', 'hello', '--allow', 'input-changed', '--limit', '1');
    expect((await summary()).commits?.map(({ clean }) => clean)).toEqual([true, false]);
    expect((await run('report', 'hello')).out).toContain(', with changes that are not committed\n');
  });

  it('runs shows the commits, and finds the runs of one', async () => {
    await run('send', 'hello');
    repository.write({ [TEMPLATE]: 'Dear {{name}}, you owe {{amount}}.' });
    await run('send', 'hello', '--occurrence', 'again');
    expect((await run('runs')).out).not.toContain(head.slice(0, 12));
    const all = (await run('runs', '--commit')).out;
    expect(all).toContain(`${head.slice(0, 8)}*\n`);
    expect(all).toMatch(/ commit\n/);
    const found = await run('runs', '--commit', head.slice(0, 6).toUpperCase(), '--format', 'json');
    expect(JSON.parse(found.out).runs).toHaveLength(2);
    expect((await run('runs', '--commit', 'ffff')).out).toBe('No run from this commit.\n');
    expect(await run('runs', '--commit', 'main')).toMatchObject({ status: 2 });
  });

  it('a plan names the commit that it was made from', async () => {
    const planFile = JSON.parse((await run('plan', 'hello')).out);
    expect(planFile.commit).toEqual({ commit: head, branch: 'main', clean: true });
    expect((await run('plan', 'hello', '-o', 'hello.json')).status).toBe(0);
    expect(await run('send', '--plan', 'hello.json')).toMatchObject({ status: 0 });
  });

  it('a purge keeps the commits', async () => {
    await run('send', 'hello');
    const { status } = await handbillHere(repository.root, ['purge', '--older-than', '1d', '--yes'], {
      now: () => NOW + 90 * 86_400_000,
    });
    expect(status).toBe(0);
    expect((await summary()).commits).toHaveLength(1);
  });
});
