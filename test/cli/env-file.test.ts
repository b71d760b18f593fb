import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withEnvFile } from '../../src/cli/shared/env-file.ts';
import { HandbillError } from '../../src/errors.ts';
import { notPrivate } from '../../src/util/secret.ts';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const SECRET = 'a-key-that-is-not-printed';

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer({ behaviour: answer(202, '{"id":"M1"}') });
});
afterAll(() => server.close());

let project: TestProject;
beforeEach(() => {
  project = createProject({
    'handbill.yaml': `environments:
  production:
    baseUrl: "${new URL(server.url).origin}"
    apiKey: { env: ACME_KEY }
    webhook: { secrets: [{ env: HOOK_SECRET }] }
suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }
`,
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
    'campaigns/hello/people.csv': 'msisdn\n+447400123456\n',
  });
  envFile(`ACME_KEY=${SECRET}\n`);
  return () => project[Symbol.dispose]();
});

function envFile(text: string, mode = 0o600): void {
  project.write('.env', text);
  chmodSync(project.path('.env'), mode);
}

function git(...args: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: project.root });
}

const head = (text: string): string => text.split('\n')[0] ?? '';

/** Codes and messages of what is refused; the variables that were taken where nothing is. */
async function taken(env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  try {
    return (await withEnvFile(env, project.root)).env;
  } catch (error) {
    if (error instanceof HandbillError) return error.diagnostics.map(({ code, message }) => `${code}: ${message}`);
    throw error;
  }
}

describe('HANDBILL_ENV', () => {
  it.each([
    ['alone', { HANDBILL_ENV: 'production' }, [], 'production'],
    ['below --env', { HANDBILL_ENV: 'production' }, ['--env', 'sandbox'], 'sandbox'],
    ['empty', { HANDBILL_ENV: '' }, [], 'sandbox'],
    ['absent', {}, [], 'sandbox'],
  ])('%s', async (_, env, args, environment) => {
    const { out } = await handbillHere(project.root, ['preview', 'hello', ...args], { env });
    expect(head(out)).toContain(`environment ${environment}`);
  });

  it('that names no environment is refused, and a plan counts more than it', async () => {
    const wrong = await handbillHere(project.root, ['preview', 'hello'], { env: { HANDBILL_ENV: 'prod' } });
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain('There is no environment "prod"');
    await handbillHere(project.root, ['plan', 'hello', '-o', 'plan.json']);
    const sent = await handbillHere(project.root, ['send', '--plan', 'plan.json'], { env: { HANDBILL_ENV: 'prod' } });
    expect(sent.status).toBe(0);
  });
});

describe('.env in the root of the project', () => {
  it('is read from any folder of it, for the secrets that handbill.yaml names', async () => {
    const sent = await runCli(['send', 'hello', '--yes', '--env', 'production'], { cwd: project.path('campaigns') });
    expect(sent).toMatchObject({ status: 0 });
    expect(sent.stdout).toContain('hello · production');
    expect(sent.stdout + sent.stderr).not.toContain(SECRET);
  });

  it('gives those secrets and PGPASSWORD alone', async () => {
    envFile('ACME_KEY="a b"\nexport HOOK_SECRET=c\nHANDBILL_SUPPRESSION_KEY=d\nPGPASSWORD=e\nOTHER_KEY=f\nPATH=/g\n');
    const secrets = { ACME_KEY: 'a b', HOOK_SECRET: 'c', HANDBILL_SUPPRESSION_KEY: 'd', PGPASSWORD: 'e' };
    expect(await taken()).toEqual(secrets);
    const { warnings } = await withEnvFile({}, project.root);
    expect(warnings.map(({ message }) => message)).toEqual(['handbill does not read OTHER_KEY and PATH from .env.']);
  });

  it('counts less than the variables of the process', async () => {
    expect(await taken({ ACME_KEY: 'mine' })).toEqual({ ACME_KEY: 'mine' });
    expect(await taken({ ACME_KEY: '' })).toEqual({ ACME_KEY: '' });
  });

  it('never shows its values, whatever is said', async () => {
    project.write(
      'handbill.yaml',
      `environments:\n  production: { baseUrl: "${SECRET}", apiKey: { env: ACME_KEY } }\n`,
    );
    const { status, stderr } = await runCli(['preview', SECRET], { cwd: project.root });
    expect(status).toBe(2);
    expect(stderr).not.toContain(SECRET);
  });

  it.each([
    'PATH=/evil',
    'SSH_ASKPASS=/evil',
    'GIT_DIR=/evil',
    'NODE_OPTIONS=--evil',
    'LD_PRELOAD=/evil',
    'DISPLAY=evil:0',
  ])('%s chooses nothing, also where handbill.yaml calls it a secret', async (line) => {
    const [name = ''] = line.split('=');
    project.write('handbill.yaml', `suppressionKey: { env: ${name} }\n`);
    envFile(`${line}\n`);
    expect(await taken({ HOME: '/home' })).toEqual({ HOME: '/home' });
  });

  it('may be a folder', async () => {
    using other = createProject({ 'handbill.yaml': '{}\n', '.env/readme': '' });
    const env = { A: '1' };
    expect((await withEnvFile(env, other.root)).env).toBe(env);
  });
});

describe('a .env that sets more than secrets', () => {
  const settings = [
    ['HANDBILL_LEDGER=./fresh.db', 'which only the process may set'],
    ['HANDBILL_LOG=../home/.bashrc', 'which only the process may set'],
    ['HANDBILL_METRICS_FILE=../authorized_keys', 'which only the process may set'],
    ['HANDBILL_ENV=production', 'which only the process may set'],
    ['HANDBILL_SIGNING_KEY=key', 'which only the process may set'],
    ['HANDBILL_LISTS=/', 'which only the process may set'],
    ['handbill_ledger=x', 'which only the process may set'],
    ['HANDBILL_TYPO_KEY=x', 'which handbill.yaml does not name as a secret'],
    ['PGHOST=evil.example', 'which only the process may set'],
    ['PGSSLMODE=disable', 'which only the process may set'],
  ] as const;

  it.each(settings)('%s is refused', async (line, why) => {
    envFile(`# a comment\nACME_KEY=${SECRET}\n  export ${line}\n`);
    const [name] = line.split('=');
    expect(await taken()).toEqual([`env-file: .env sets ${name}, ${why}.`]);
  });

  it('is refused also where handbill.yaml calls a setting a secret', async () => {
    project.write('handbill.yaml', 'suppressionKey: { env: HANDBILL_LEDGER }\n');
    envFile('HANDBILL_LEDGER=./fresh.db\n');
    expect(await taken()).toEqual(['env-file: .env sets HANDBILL_LEDGER, which only the process may set.']);
  });

  it('does not begin a second ledger, append to a file or send anywhere: the command ends with the line', async () => {
    envFile('ACME_KEY=x\nHANDBILL_LEDGER=./fresh.db\nHANDBILL_LOG=./log\nHANDBILL_ENV=production\n');
    const { status, stdout, stderr } = await runCli(['send', 'hello', '--yes'], { cwd: project.root });
    expect([status, stdout]).toEqual([2, '']);
    for (const line of [2, 3, 4]) expect(stderr).toContain(`.env:${line}`);
    expect(stderr).toContain('export HANDBILL_LEDGER=');
    expect([existsSync(project.path('fresh.db')), existsSync(project.path('log'))]).toEqual([false, false]);
  });

  it('does not keep help and completion from being shown', async () => {
    envFile('HANDBILL_LEDGER=./fresh.db\n');
    for (const args of [
      ['send', '--help'],
      ['help', 'env-file'],
      ['completion', 'bash'],
    ]) {
      expect(await runCli(args, { cwd: project.root })).toMatchObject({ status: 0, stderr: '' });
    }
  });

  it('is warned about once, and not with --quiet, where the variables are not those of handbill', async () => {
    envFile('DATABASE_URL=postgres://x\nRAILS_ENV=test\n', 0o644);
    const loud = await runCli(['validate'], { cwd: project.root });
    expect(loud.status).toBe(0);
    expect(loud.stderr.match(/warning\[env-file\]/g)).toHaveLength(1);
    expect(loud.stderr).toContain('DATABASE_URL and RAILS_ENV');
    expect((await runCli(['validate', '--quiet'], { cwd: project.root })).stderr).toBe('');
  });

  it('knows every setting that the sources read', () => {
    const folder = join(import.meta.dirname, '../../src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const read = files.flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [...text.matchAll(/env\['(HANDBILL_\w+)'\]/g)].map(([, found = '']) => found);
    });
    const settings = new Set(read.filter((name) => name !== 'HANDBILL_API_KEY'));
    expect(settings.size).toBeGreaterThan(5);
    const source = readFileSync(join(folder, 'cli/shared/env-file.ts'), 'utf8');
    const [, listed = ''] = /HANDBILL_\(\?:([A-Z_|]+)\)/.exec(source) ?? [];
    for (const name of settings) expect(listed.split('|')).toContain(name.replace('HANDBILL_', ''));
  });
});

describe('a .env that git tracks', () => {
  it.each([
    ['added to the index', () => git('add', '-f', '.env')],
    [
      'committed',
      () => {
        git('add', '-f', '.env');
        git('commit', '-qm', 'one');
      },
    ],
  ])('is refused: %s', async (_, act) => {
    git('init', '-q');
    project.write('.gitignore', '.env\n');
    expect(await taken()).toEqual({ ACME_KEY: SECRET });
    act();
    expect(await taken()).toEqual([expect.stringMatching(/^env-file: git tracks \.env\./)]);
  });

  it('is refused under another name, behind a link that belongs to this machine', async () => {
    git('init', '-q');
    project.write('secrets/x', `ACME_KEY=${SECRET}\n`);
    chmodSync(project.path('secrets/x'), 0o600);
    git('add', '-f', 'secrets/x');
    execFileSync('rm', [project.path('.env')]);
    symlinkSync('secrets/x', project.path('.env'));
    expect(await taken()).toEqual([expect.stringMatching(/^env-file: git tracks \.env\./)]);
  });

  it('is refused where a folder with the files of a bare repository says that git does not track it', async () => {
    using outer = createProject({});
    const inner = join(outer.root, 'messaging');
    mkdirSync(inner);
    for (const [path, bytes] of project.contents()) outer.write(path.replace(project.root, 'messaging'), bytes);
    chmodSync(join(inner, '.env'), 0o600);
    const run = (...args: readonly string[]): void => void execFileSync('git', args, { cwd: outer.root });
    run('init', '-q');
    run('init', '-q', '--bare', 'fake.git');
    for (const name of ['HEAD', 'objects', 'refs'])
      execFileSync('cp', ['-r', `fake.git/${name}`, inner], { cwd: outer.root });
    outer.write('messaging/config', '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n');
    run('add', '-f', 'messaging');
    const refused = await runCli(['validate'], { cwd: inner });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('git tracks .env');
  });

  it('is refused where git cannot say', async () => {
    git('init', '-q');
    expect(await taken({ PATH: '/nowhere' })).toEqual(['env-file: git does not say whether it tracks .env.']);
  });
});

describe('a .env that others could have read or written', () => {
  it.each([0o644, 0o640, 0o604, 0o666, 0o622])('with secrets, mode %o: refused', async (mode) => {
    envFile('ACME_KEY=x\n', mode);
    expect(await taken()).toEqual([expect.stringMatching(/^key-file-permissions: Other users can \w+ \.env/)]);
  });

  it('is refused where it belongs to another user', () => {
    const stat = { uid: (process.getuid?.() ?? 0) + 1, mode: 0o100600 };
    const [fault] = notPrivate('.env', stat, 'keys', {});
    expect(fault?.message).toBe('.env, which holds keys, belongs to another user.');
  });

  it.each([
    [0o644, true],
    [0o622, false],
    [0o666, false],
  ])('without a secret, mode %o', async (mode, isTaken) => {
    envFile('OTHER=x\n', mode);
    expect(await taken()).toEqual(isTaken ? {} : [expect.stringMatching(/^key-file-permissions: /)]);
  });
});
