import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, test } from 'vitest';
import { startCli, until } from '../helpers/cli.ts';
import { createRepository, HELLO, type Repository, trap } from './repository.ts';

const LIST = 'campaigns/hello/people.csv';

test('nothing that a repository says is run', async () => {
  using repository = createRepository(HELLO);
  repository.commit({ '.gitattributes': '* filter=evil diff=evil export-subst\n' });
  const traps = ['fsmonitor', 'hook', 'clean', 'smudge', 'textconv', 'external', 'pager', 'ssh', 'alias'].map((name) =>
    trap(repository, name),
  );
  const [fsmonitor, hook, clean, smudge, textconv, external, pager, ssh, alias] = traps.map(({ program }) => program);
  const hooks = join(repository.root, '.git/hooks');
  mkdirSync(hooks, { recursive: true });
  for (const name of ['post-index-change', 'reference-transaction', 'post-checkout']) {
    symlinkSync(hook ?? '', join(hooks, name));
  }
  writeFileSync(
    join(repository.root, '.git/config'),
    `[core]
	repositoryformatversion = 0
	fsmonitor = ${fsmonitor}
	hooksPath = ${hooks}
	pager = ${pager}
	sshCommand = ${ssh}
[filter "evil"]
	clean = ${clean}
	smudge = ${smudge}
	required = true
[diff "evil"]
	textconv = ${textconv}
	command = ${external}
[alias]
	ls-tree = "!${alias}"
	cat-file = "!${alias}"
	rev-parse = "!${alias}"
`,
  );
  repository.write({ 'campaigns/hello/hello.hbs': 'Hi {{name}}, you owe {{amount}}.' });
  const { campaigns } = await repository.diff('HEAD', null, {
    env: { ...process.env, GIT_EXTERNAL_DIFF: external, GIT_PAGER: pager, GIT_SSH_COMMAND: ssh },
  });
  expect(campaigns[0]?.texts.changed).toBe(3);
  expect(traps.filter(({ mark }) => existsSync(mark))).toEqual([]);
});

test('variables of the environment do not lead to another repository', async () => {
  using repository = createRepository(HELLO);
  using other = createRepository({ 'a.txt': 'a' });
  repository.write({ [LIST]: 'msisdn,name,amount\n+447700900001,Ann,10\n' });
  const env = {
    ...process.env,
    GIT_DIR: join(other.root, '.git'),
    GIT_WORK_TREE: other.root,
    GIT_OBJECT_DIRECTORY: join(other.root, '.git/objects'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.worktree',
    GIT_CONFIG_VALUE_0: other.root,
  };
  const { campaigns } = await repository.diff('HEAD', null, { env });
  expect(campaigns[0]?.recipients?.removed).toBe(2);
});

test('a partial clone is not asked to fetch what it lacks', async () => {
  using repository = createRepository(HELLO);
  repository.git('config', 'uploadpack.allowFilter', 'true');
  const clone = join(dirname(repository.root), 'clone');
  const source = `file://${repository.root}`;
  execFileSync('git', ['clone', '-q', '--no-checkout', '--filter=blob:none', source, clone], { stdio: 'ignore' });
  const before = readdirSync(join(clone, '.git/objects/pack'));
  await expect(repository.diff('HEAD', null, { cwd: clone })).rejects.toMatchObject({
    code: 'unknown-revision',
    exit: 2,
  });
  expect(readdirSync(join(clone, '.git/objects/pack'))).toEqual(before);
});

describe('trees', () => {
  it('links lead nowhere outside, and files that are not the project do not matter', async () => {
    using repository = createRepository(HELLO);
    const secret = join(dirname(repository.root), 'secret.hbs');
    writeFileSync(secret, 'SECRET {{name}}');
    symlinkSync(secret, join(repository.root, 'campaigns/hello/absolute.hbs'));
    symlinkSync('../../../secret.hbs', join(repository.root, 'campaigns/hello/relative.hbs'));
    symlinkSync('.', join(repository.root, 'campaigns/hello/here'));
    symlinkSync('here/../../../../secret.hbs', join(repository.root, 'campaigns/hello/through.hbs'));
    symlinkSync('hello.hbs', join(repository.root, 'campaigns/hello/inside.hbs'));
    for (const [name, isSound] of [
      ['absolute', false],
      ['relative', false],
      ['through', false],
      ['inside', true],
    ] as const) {
      repository.commit({
        'campaigns/hello/campaign.yaml': HELLO['campaigns/hello/campaign.yaml'].replace('hello.hbs', `${name}.hbs`),
      });
      const result = await repository.diff('HEAD', null);
      const { campaigns } = await repository.diff('HEAD..HEAD~0', null);
      expect(JSON.stringify([result, campaigns]), name).not.toContain('SECRET');
      expect(result.valid, name).toBe(isSound);
    }
  });

  it('paths that git would never write are not written', async () => {
    using repository = createRepository(HELLO);
    const blob = repository.git('hash-object', '-w', 'handbill.yaml');
    const treeOf = (name: string, type = '100644', oid = blob): string => {
      const entry = Buffer.concat([Buffer.from(`${type} ${name}\0`), Buffer.from(oid, 'hex')]);
      const path = join(dirname(repository.root), 'tree');
      writeFileSync(path, entry);
      return repository.git('hash-object', '-w', '-t', 'tree', '--literally', path);
    };
    for (const name of ['..', '.git', '.GIT', '.']) {
      const evil = treeOf(name, '40000', treeOf('escaped.yaml'));
      const commit = repository.git('commit-tree', evil, '-m', 'evil');
      const { campaigns } = await repository.diff(`${commit}..HEAD`);
      expect(campaigns.map(({ change }) => change)).toEqual(['added']);
    }
    expect(existsSync(join(dirname(repository.root), 'escaped.yaml'))).toBe(false);
  });

  it('folders with blanks and letters of any script, and a project below the top', async () => {
    const moved = Object.fromEntries(Object.entries(HELLO).map(([name, text]) => [`Kampagnen für 東京/${name}`, text]));
    using repository = createRepository(moved, 'mit Leer zeichen');
    repository.write({ [`Kampagnen für 東京/${LIST}`]: 'msisdn,name,amount\n+447700900001,Ann,10\n' });
    const cwd = join(repository.root, 'Kampagnen für 東京/campaigns');
    const { campaigns } = await repository.diff('HEAD', 'hello', { cwd });
    expect(campaigns[0]).toMatchObject({
      file: 'campaigns/hello/campaign.yaml',
      recipients: { removed: 2, common: 1 },
    });
  });
});

describe('the folder that an older state is written to', () => {
  const left = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('handbill-diff-'));
  const big = `msisdn,name,amount\n${Array.from({ length: 60_000 }, (_, i) => `+4477${10_000_000 + i},Ann,1\n`).join('')}`;

  function inFolder(repository: Repository): {
    readonly folder: string;
    readonly env: Readonly<Record<string, string>>;
  } {
    const folder = join(dirname(repository.root), 'tmp');
    mkdirSync(folder);
    return { folder, env: { TMPDIR: folder } };
  }

  it('is removed when all went well, and when it did not', async () => {
    using repository = createRepository(HELLO);
    const { folder, env } = inFolder(repository);
    for (const revision of ['HEAD', 'nowhere']) {
      const running = startCli(['diff', revision], { cwd: repository.root, env });
      await running.done;
      expect(left(folder), revision).toEqual([]);
    }
  });

  it('is private, and removed on an interrupt', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: big });
    const { folder, env } = inFolder(repository);
    const running = startCli(['diff', 'HEAD'], { cwd: repository.root, env });
    await until('the folder is there', () => left(folder).length > 0);
    running.kill('SIGINT');
    const { status, stderr } = await running.done;
    expect([status, stderr]).toEqual([130, expect.stringContaining('error[interrupted]')]);
    expect(left(folder)).toEqual([]);
  });
});
