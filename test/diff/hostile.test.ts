import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, test } from 'vitest';
import { checkout } from '../../src/diff/checkout.ts';
import { diff } from '../../src/operations/diff.ts';
import { startCli, until } from '../helpers/cli.ts';
import { createRepository, type Files, HELLO, NOW, type Repository, trap } from './repository.ts';

const LIST = 'campaigns/hello/people.csv';

test('the files of a bare repository in the work tree are not taken for the repository', async () => {
  using repository = createRepository({ 'messaging/handbill.yaml': '{}\n', ...inFolder('messaging', HELLO) });
  const template = 'messaging/campaigns/hello/hello.hbs';
  const text = 'Hi {{name}}, another link: https://evil.example';
  repository.git('init', '--quiet', '--bare', 'fake.git');
  // What it holds is the work tree of the pull request, so that nothing seems to change.
  const fake = ['--git-dir=fake.git', '--work-tree=messaging'];
  repository.write({ [template]: text });
  repository.git(...fake, 'add', '--all');
  repository.git(...fake, 'commit', '--quiet', '--message', 'fake');
  const inner = join(repository.root, 'messaging');
  for (const name of ['HEAD', 'objects', 'refs'])
    cpSync(join(repository.root, 'fake.git', name), join(inner, name), { recursive: true });
  const config = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n';
  repository.write({ 'messaging/config': config });
  const taken = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: inner, encoding: 'utf8' }).trim();
  expect(taken).not.toBe(repository.git('rev-parse', 'HEAD'));
  const changes = await diff('HEAD', { cwd: inner, env: process.env, now: () => NOW });
  expect(changes.campaigns.map(({ texts }) => texts.changed)).toEqual([3]);
});

const inFolder = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

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

test('a commit is what its name says, whatever this clone has put in the place of its files', async () => {
  using repository = createRepository(HELLO);
  const [list, template] = [LIST, 'campaigns/hello/hello.hbs'].map((name) =>
    repository.git('rev-parse', `HEAD:${name}`),
  );
  const other = repository.git('hash-object', '-w', 'handbill.yaml');
  repository.git('replace', '--force', list ?? '', other);
  repository.git('replace', '--force', template ?? '', repository.git('rev-parse', 'HEAD^{tree}'));
  expect(await repository.diff('HEAD')).toMatchObject({ campaigns: [], unchanged: ['hello'] });
});

test.each<[label: string, damage: (bytes: Buffer) => Buffer]>([
  ['cut short', (bytes) => bytes.subarray(0, 10)],
  ['other bytes', (bytes) => Buffer.alloc(bytes.length, 0x2a)],
  ['empty', () => Buffer.alloc(0)],
])('a list that git cannot read any more is not taken for one that was never there: %s', async (_, damage) => {
  using repository = createRepository(HELLO);
  const oid = repository.git('rev-parse', `HEAD:${LIST}`);
  const file = join(repository.root, '.git/objects', oid.slice(0, 2), oid.slice(2));
  const bytes = damage(readFileSync(file));
  rmSync(file);
  writeFileSync(file, bytes);
  await expect(repository.diff('HEAD')).rejects.toMatchObject({ code: 'unknown-revision', exit: 2 });
});

test('a list or a sample to which a link leads out of the project is not read for the side that lacks it', async () => {
  const recipients = 'recipients: { csv: people.csv, sample: sample.csv }\n';
  const campaign = HELLO['campaigns/hello/campaign.yaml'].replace(/recipients: .*\n/, recipients);
  using repository = createRepository({ ...HELLO, 'campaigns/hello/campaign.yaml': campaign, [LIST]: null });
  writeFileSync(join(dirname(repository.root), 'secret.csv'), HELLO[LIST]);
  repository.write({ 'campaigns/hello/hello.hbs': 'Hi {{name}}' });
  for (const name of ['people.csv', 'sample.csv']) {
    symlinkSync('../../../secret.csv', join(repository.root, 'campaigns/hello', name));
    const { campaigns } = await repository.diff('HEAD');
    expect([name, campaigns[0]?.before?.figures, campaigns[0]?.after?.figures]).toEqual([name, null, null]);
    rmSync(join(repository.root, 'campaigns/hello', name));
  }
});

test('a list to which a link leads in a folder of HANDBILL_LISTS is read for both sides', async () => {
  using repository = createRepository({ ...HELLO, [LIST]: null });
  const lists = join(dirname(repository.root), 'lists');
  mkdirSync(lists);
  writeFileSync(join(lists, 'people.csv'), HELLO[LIST]);
  symlinkSync('../../../lists/people.csv', join(repository.root, LIST));
  repository.write({ 'campaigns/hello/hello.hbs': 'Hi {{name}}' });
  const { campaigns } = await repository.diff('HEAD', null, { env: { ...process.env, HANDBILL_LISTS: lists } });
  expect(campaigns[0]).toMatchObject({
    before: { errors: [], figures: { rows: 3 } },
    after: { errors: [], figures: { rows: 3 } },
  });
});

test.each([
  ['out', 'out/note.txt'],
  ['out/numbers.csv', 'out'],
])('a suppression list %s is not copied over %s of the other side, whose error is shown', async (list, other) => {
  using repository = createRepository({ ...HELLO, 'handbill.yaml': `suppressions: ${list}\n`, [other]: 'x' });
  rmSync(join(repository.root, 'out'), { recursive: true });
  repository.write({ [list]: 'msisdn\n+447700900001\n' });
  const [campaign] = (await repository.diff('HEAD')).campaigns;
  expect(campaign?.before?.errors.map(({ code }) => code)).toEqual([expect.stringMatching(/^file-/)]);
  expect(campaign?.after).toMatchObject({ errors: [], figures: { skipped: { suppressed: 1 } } });
});

describe('trees', () => {
  /** A commit as it is written into a folder of its own, whose surroundings can be looked at. */
  async function written(
    repository: Repository,
    commit: string,
  ): Promise<{ readonly around: string; readonly into: string }> {
    const around = mkdtempSync(join(dirname(repository.root), 'around-'));
    const into = join(around, 'into');
    mkdirSync(into);
    const place = { folder: repository.root, env: process.env, signal: new AbortController().signal };
    await checkout(place, commit, into);
    return { around, into };
  }

  it('links are written where they stay inside, and no other', async () => {
    using repository = createRepository(HELLO);
    const secret = join(dirname(repository.root), 'secret.hbs');
    writeFileSync(secret, 'SECRET {{name}}');
    const links = {
      'absolute.hbs': secret,
      'relative.hbs': '../../../secret.hbs',
      here: '.',
      'through.hbs': 'here/../../../../secret.hbs',
      'deeper.hbs': 'here/../../../into.hbs',
      'nowhere.hbs': 'missing.hbs',
      'inside.hbs': 'hello.hbs',
    };
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, join(repository.root, 'campaigns/hello', name));
    }
    const { into } = await written(repository, repository.commit({}));
    const kept = readdirSync(join(into, 'campaigns/hello'), { withFileTypes: true }).filter((one) =>
      one.isSymbolicLink(),
    );
    expect(kept.map(({ name }) => name).sort()).toEqual(['here', 'inside.hbs']);
  });

  it('a link that leaves through another link is not written', async () => {
    using repository = createRepository(HELLO);
    // `up/..` looks like the top, and is the folder above it.
    symlinkSync('.', join(repository.root, 'up'));
    symlinkSync('up/../around.hbs', join(repository.root, 'campaign.hbs'));
    writeFileSync(join(repository.root, 'around.hbs'), 'inside');
    const commit = repository.commit({});
    const around = mkdtempSync(join(dirname(repository.root), 'around-'));
    writeFileSync(join(around, 'around.hbs'), 'SECRET');
    mkdirSync(join(around, 'into'));
    const place = { folder: repository.root, env: process.env, signal: new AbortController().signal };
    await checkout(place, commit, join(around, 'into'));
    expect(existsSync(join(around, 'into/around.hbs'))).toBe(true);
    expect(existsSync(join(around, 'into/campaign.hbs'))).toBe(false);
  });

  it('paths that git would never write are not written', async () => {
    using repository = createRepository(HELLO);
    const blob = repository.git('hash-object', '-w', 'handbill.yaml');
    const treeOf = (name: string, type = '100644', oid = blob): string => {
      const path = join(dirname(repository.root), 'tree');
      writeFileSync(path, Buffer.concat([Buffer.from(`${type} ${name}\0`), Buffer.from(oid, 'hex')]));
      return repository.git('hash-object', '-w', '-t', 'tree', '--literally', path);
    };
    for (const name of ['..', '.git', '.GIT', '.', 'sound']) {
      const tree = treeOf(name, '40000', treeOf('file.yaml'));
      const { around, into } = await written(repository, repository.git('commit-tree', tree, '-m', 'by hand'));
      expect(readdirSync(around), name).toEqual(['into']);
      const files = readdirSync(into, { recursive: true });
      expect(files.sort(), name).toEqual(name === 'sound' ? ['.git', 'sound', 'sound/file.yaml'] : ['.git']);
    }
  });

  it('YAML under names that no disk can hold is passed over', async () => {
    using repository = createRepository(HELLO);
    const blob = repository.git('rev-parse', 'HEAD:handbill.yaml');
    const deep = Array.from({ length: 20 }, () => 'd'.repeat(250)).join('/');
    for (const name of [`${'n'.repeat(300)}.yaml`, `${deep}/campaign.yaml`]) {
      repository.git('update-index', '--add', '--cacheinfo', `100644,${blob},campaigns/${name}`);
    }
    repository.git('commit', '--quiet', '--message', 'long names');
    expect(await repository.diff('HEAD~1..HEAD')).toMatchObject({ campaigns: [], unchanged: ['hello'] });
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

  it.each([
    ['is not there', 'nowhere', 'it does not exist'],
    ['is a file', 'project/handbill.yaml', 'it is not a folder'],
  ])('cannot be made where the one for temporary files %s: refused, and no bug', async (_, place, why) => {
    using repository = createRepository(HELLO);
    const env = { TMPDIR: join(dirname(repository.root), place) };
    const { status, stderr } = await startCli(['diff', 'HEAD'], { cwd: repository.root, env }).done;
    expect([status, stderr]).toEqual([2, expect.stringContaining(`${env.TMPDIR}) cannot be written to: ${why}.`)]);
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
