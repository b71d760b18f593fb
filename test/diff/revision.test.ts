import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { createRepository, HELLO, type Repository } from './repository.ts';

async function refusal(promise: Promise<unknown>): Promise<HandbillError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HandbillError)) throw new Error(`no refusal, but ${String(error)}`);
  return error;
}

const recipientsOf = async (repository: Repository, revision: string) => {
  const { campaigns, before, after } = await repository.diff(revision);
  const { added, removed } = campaigns[0]?.recipients ?? { added: 0, removed: 0 };
  return { added, removed, before, after };
};

const LIST = 'campaigns/hello/people.csv';
const listOf = (...numbers: readonly string[]) =>
  `msisdn,name,amount\n${numbers.map((number) => `+4477009000${number},Ann,1\n`).join('')}`;

/** `work` left `main` after its first commit, and both went on; the work tree is that of `work`. */
let diverged: Repository;
let base = '';

beforeAll(() => {
  diverged = createRepository({ ...HELLO, [LIST]: listOf('01') });
  base = diverged.git('rev-parse', 'HEAD');
  diverged.git('checkout', '-q', '-b', 'work');
  diverged.commit({ [LIST]: listOf('01', '02') });
  diverged.git('checkout', '-q', 'main');
  diverged.commit({ [LIST]: listOf('01', '03', '04', '05') });
  diverged.git('checkout', '-q', 'work');
  diverged.write({ [LIST]: listOf('01', '02', '06') });
});
afterAll(() => diverged[Symbol.dispose]());

describe('what is compared with what', () => {
  it('one revision: what the work tree changes since it left that branch, whatever happened there meanwhile', async () => {
    expect(await recipientsOf(diverged, 'main')).toMatchObject({
      added: 2,
      removed: 0,
      before: { name: 'main', commit: base, mergeBase: true },
      after: { name: 'work tree', commit: null },
    });
  });

  it('an earlier commit is compared as it is', async () => {
    using repository = createRepository({ ...HELLO, [LIST]: listOf('01') });
    const first = repository.git('rev-parse', 'HEAD');
    repository.commit({ [LIST]: listOf('02') });
    expect(await recipientsOf(repository, 'HEAD~1')).toMatchObject({
      added: 1,
      removed: 1,
      before: { name: 'HEAD~1', commit: first, mergeBase: false },
    });
  });

  it.each([
    ['main..work', { added: 1, removed: 3 }],
    ['main...work', { added: 1, removed: 0 }],
    ['..work', { added: 0, removed: 0 }],
  ])('%s', async (range, counts) => {
    expect(await recipientsOf(diverged, range)).toMatchObject({ ...counts, after: { name: 'work' } });
  });

  it('histories without anything in common are compared as they are, and it says so', async () => {
    using repository = createRepository(HELLO);
    repository.git('checkout', '-q', '--orphan', 'other');
    repository.commit({ [LIST]: listOf('01') });
    const { notes, campaigns } = await repository.diff('main');
    expect(notes).toEqual([expect.stringContaining('no commit in common')]);
    expect(campaigns[0]?.recipients).toMatchObject({ removed: 2, common: 1 });
  });
});

describe('a revision that is none is refused', () => {
  it.each<[label: string, revision: string]>([
    ['a branch that does not exist', 'nowhere'],
    ['an option of git', '--upload-pack=x'],
    ['another one', '--output=/tmp/x'],
    ['a file', 'HEAD:handbill.yaml'],
    ['nothing', ''],
    ['a line break', 'HEAD\nHEAD'],
    ['a command', '$(touch x)'],
    ['a range to nowhere', 'HEAD..nowhere'],
  ])('%s', async (_label, revision) => {
    const error = await refusal(diverged.diff(revision));
    expect([error.code, error.exit]).toEqual(['unknown-revision', 2]);
  });

  test.each(['main', 'HEAD', 'v1..v2', '..'])('a repository without any commit says so: %s', async (revision) => {
    using repository = createRepository();
    repository.write(HELLO);
    const error = await refusal(repository.diff(revision));
    expect([error.code, error.exit]).toEqual(['unknown-revision', 2]);
    expect(error.message).toContain('This repository holds no commit yet');
    expect(error.diagnostics[0]?.hint).toContain('git commit');
  });

  it('a branch without any commit is told from a name that git does not know', async () => {
    using repository = createRepository(HELLO);
    repository.git('checkout', '-q', '--orphan', 'fresh');
    const error = await refusal(repository.diff('main'));
    expect(error.message).toContain('The current branch holds no commit yet');
    expect((await refusal(repository.diff('mian'))).message).toContain('The current branch holds no commit yet');
    expect((await refusal(repository.diff('mian..main'))).message).toContain('git knows no commit "mian"');
  });

  it('a shallow clone says what to fetch', async () => {
    using repository = createRepository(HELLO);
    repository.commit({ [LIST]: listOf('01') });
    repository.git('branch', 'other', 'HEAD~1');
    const clone = join(dirname(repository.root), 'clone');
    execFileSync('git', ['clone', '-q', '--depth=1', `file://${repository.root}`, clone], { stdio: 'ignore' });
    for (const revision of ['HEAD~1', 'origin/other']) {
      const error = await refusal(repository.diff(revision, null, { cwd: clone }));
      expect(error.code).toBe('unknown-revision');
      expect(error.diagnostics[0]?.hint).toContain('fetch-depth: 0');
    }
  });

  it('outside of a repository', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-nowhere-'));
    const error = await refusal(diverged.diff('HEAD', null, { cwd: folder }));
    rmSync(folder, { recursive: true });
    expect([error.code, error.exit]).toEqual(['git-unavailable', 2]);
  });

  it('without git', async () => {
    const error = await refusal(diverged.diff('HEAD', null, { env: { PATH: '/nowhere' } }));
    expect(error.code).toBe('git-unavailable');
  });
});

test('a campaign that is on neither side is refused, whatever its name looks like', async () => {
  for (const target of ['helo', '--upload-pack=x', '../../etc', 'a\0b']) {
    expect((await refusal(diverged.diff('HEAD', target))).code).toBe('campaign-not-found');
  }
});
