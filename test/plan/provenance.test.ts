import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { commitFaults, type Provenance, readProvenance } from '../../src/plan/provenance.ts';
import { createRepository, type Files, HELLO, type Repository } from '../diff/repository.ts';

const LIST = 'campaigns/hello/people.csv';
const TEMPLATE = 'campaigns/hello/hello.hbs';
const PRICES = 'currency: EUR\nsms: { GB: 0.05 }\n';

let repository: Repository;
let head: string;
beforeEach(() => {
  repository = createRepository({});
  repository.write({ '.gitignore': '*.csv\n' });
  head = repository.commit({ ...HELLO, 'handbill.yaml': 'prices: prices.yaml\n', 'prices.yaml': PRICES });
});
afterEach(() => repository[Symbol.dispose]());

async function read(env: Readonly<Record<string, string>> = {}): Promise<Provenance> {
  const { campaign } = await loadCampaign('hello', { cwd: repository.root });
  return await readProvenance(campaign, { PATH: process.env['PATH'], HOME: dirname(repository.root), ...env });
}

const changed = async (files: Files): Promise<readonly string[]> => {
  repository.write(files);
  const provenance = await read();
  return 'changed' in provenance ? provenance.changed : [provenance.unknown];
};

describe('the commit of a campaign', () => {
  it('is HEAD with its branch, and clean where a list is ignored', async () => {
    expect(await read()).toEqual({ commit: { commit: head, branch: 'main', clean: true }, changed: [] });
  });

  it.each<[string, string, string]>([
    ['campaign', 'campaigns/hello/campaign.yaml', `${HELLO['campaigns/hello/campaign.yaml']}locale: en\n`],
    ['template', TEMPLATE, 'Dear {{name}}, you owe {{amount}}.'],
    ['project file', 'handbill.yaml', 'prices: prices.yaml\ntimeZone: Europe/London\n'],
    ['price list', 'prices.yaml', PRICES.replace('0.05', '0.06')],
  ])('a changed %s is not clean', async (_, file, text) => {
    expect(await changed({ [file]: text })).toEqual([file]);
    expect(await read()).toMatchObject({ commit: { commit: head, clean: false } });
  });

  it('a file that git does not know is not clean, and one that the campaign does not use is', async () => {
    expect(await changed({ 'campaigns/other/campaign.yaml': 'name: other\n', 'README.md': 'new' })).toEqual([]);
    repository.git('rm', '--cached', '--quiet', TEMPLATE);
    repository.git('commit', '--quiet', '--message', 'not in git any more');
    expect(await changed({})).toEqual([TEMPLATE]);
  });

  it('a change that is staged and not committed is not clean', async () => {
    repository.write({ [TEMPLATE]: 'Dear {{name}} {{amount}}' });
    repository.git('add', TEMPLATE);
    expect(await changed({})).toEqual([TEMPLATE]);
  });

  it('a list counts where git tracks it', async () => {
    expect(await changed({ [LIST]: 'msisdn,name,amount\n+447700900001,Ann,11\n' })).toEqual([]);
    repository.git('add', '--force', LIST);
    repository.commit({});
    expect(await changed({})).toEqual([]);
    expect(await changed({ [LIST]: HELLO[LIST] })).toEqual([LIST]);
  });

  it('what git itself changes at a checkout does not count: line ends, and files of git-lfs', async () => {
    const lines = HELLO['campaigns/hello/campaign.yaml'].replaceAll('\n', '\r\n');
    expect(await changed({ 'campaigns/hello/campaign.yaml': lines })).toEqual([]);
    // The SHA-256 of "a\n", and its size.
    const pointer =
      'version https://git-lfs.github.com/spec/v1\noid sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7\nsize 2\n';
    repository.commit({ [TEMPLATE]: pointer });
    expect(await changed({ [TEMPLATE]: 'a\n' })).toEqual([]);
    expect(await changed({ [TEMPLATE]: 'b\n' })).toEqual([TEMPLATE]);
  });

  it('has no branch where a commit is checked out, unless the CI system names one for that commit', async () => {
    repository.git('checkout', '--quiet', '--detach');
    const branch = async (env: Readonly<Record<string, string>>) => {
      const provenance = await read(env);
      return 'commit' in provenance ? provenance.commit.branch : provenance.unknown;
    };
    expect(await branch({})).toBeNull();
    expect(await branch({ GITHUB_REF: 'refs/heads/main', GITHUB_SHA: head })).toBe('main');
    expect(await branch({ GITHUB_REF: 'refs/heads/main', GITHUB_SHA: 'f'.repeat(40) })).toBeNull();
    expect(await branch({ GITHUB_REF: 'refs/tags/main', GITHUB_SHA: head })).toBeNull();
    expect(await branch({ CI_COMMIT_BRANCH: 'release', CI_COMMIT_SHA: head })).toBe('release');
    repository.git('switch', '--quiet', '--create', 'topic');
    expect(await branch({ GITHUB_REF: 'refs/heads/main', GITHUB_SHA: head })).toBe('topic');
  });

  it('is not known outside of a repository, before the first commit, and without git', async () => {
    expect(await read({ PATH: '/nowhere' })).toEqual({ unknown: 'git was not found' });
    renameSync(join(repository.root, '.git'), join(repository.root, '.gone'));
    expect(await read()).toEqual({ unknown: 'the project is not in a git repository' });
    repository.git('init', '--quiet');
    expect(await read()).toEqual({ unknown: 'the repository has no commit yet' });
  });
});

describe('the rule of an environment', () => {
  const where = { at: { file: 'handbill.yaml', line: 6, column: 10 } };
  const codes = (clean: boolean, branches: readonly string[] | null, provenance: Provenance) =>
    commitFaults({ name: 'production', git: { clean, branches, where } } as never, provenance).map(
      ({ code, message, at }) => `${code} ${at?.line}: ${message}`,
    );
  const from = (branch: string | null, changedFiles: readonly string[] = []): Provenance => ({
    commit: { commit: 'a'.repeat(40), branch, clean: changedFiles.length === 0 },
    changed: changedFiles,
  });

  it('names what differs, all at once and with its place', () => {
    expect(codes(true, ['main'], from('main'))).toEqual([]);
    expect(codes(true, ['main', 'release'], from('release'))).toEqual([]);
    expect(codes(false, null, from(null, ['a.hbs']))).toEqual([]);
    expect(codes(true, ['main', 'release'], from('topic', ['a.hbs', 'b.hbs']))).toEqual([
      'commit-refused 6: production takes campaigns from main or release only, and this is topic.',
      'commit-refused 6: production takes committed files only, and these are not as committed: a.hbs, b.hbs.',
    ]);
    expect(codes(false, ['main'], from(null))).toEqual([
      'commit-refused 6: production takes campaigns from main only, and no branch is checked out.',
    ]);
    expect(codes(true, null, { unknown: 'git was not found' })).toEqual([
      'commit-refused 6: production takes campaigns from a commit only, and git was not found.',
    ]);
  });
});
