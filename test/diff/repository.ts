import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import type { Diff } from '../../src/diff/result.ts';
import { type DiffOptions, diff } from '../../src/operations/diff.ts';

export type Files = Readonly<Record<string, string | null>>;

/** A real git repository in a folder of its own, with people and times that never change; removed at the end of `using`. */
export interface Repository extends Disposable {
  readonly root: string;
  git(...args: readonly string[]): string;
  /** Writes files; null deletes one. */
  write(files: Files): void;
  /** Writes files and commits everything; the id of the commit. */
  commit(files: Files): string;
  /** What `diff` says, in the given folder of the repository. */
  diff(revision: string, target?: string | null, options?: DiffOptions): Promise<Diff>;
}

export const NOW = Date.UTC(2026, 10, 21, 9);

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_AUTHOR_DATE: '2026-11-20T09:00:00Z',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
  GIT_COMMITTER_DATE: '2026-11-20T09:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
};

export function createRepository(files: Files = {}, folder = 'project'): Repository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-repository-')));
  const root = join(base, folder);
  mkdirSync(root);
  const env = { PATH: process.env['PATH'], HOME: base, ...IDENTITY };
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const write = (changed: Files): void => {
    for (const [name, text] of Object.entries(changed)) {
      const path = join(root, name);
      mkdirSync(dirname(path), { recursive: true });
      if (text === null) rmSync(path, { force: true });
      else writeFileSync(path, text);
    }
  };
  const commit = (changed: Files): string => {
    write(changed);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'a change');
    return git('rev-parse', 'HEAD');
  };
  // A start of git from this large process takes 20 ms of CPU: what begins with the same files is copied.
  const key = JSON.stringify(files);
  const known = begun.get(key);
  if (known === undefined) {
    git('init', '--quiet', '--initial-branch=main', '--template=');
    if (Object.keys(files).length > 0) commit(files);
    begun.set(key, contentsOf(join(root, '.git')));
  } else {
    write(files);
    for (const [name, bytes] of known) {
      if (bytes === null) mkdirSync(join(root, '.git', name), { recursive: true });
      else writeFileSync(join(root, '.git', name), bytes);
    }
  }
  return {
    root,
    git,
    write,
    commit,
    diff: (revision, target = null, options = {}) =>
      diff(revision, { ...(target === null ? {} : { campaign: target }), cwd: root, now: () => NOW, ...options }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** What git made of the files that a repository begins with. */
const begun = new Map<string, ReadonlyMap<string, Buffer | null>>();

/** By path, each folder before what it holds; null: a folder. */
function contentsOf(folder: string): ReadonlyMap<string, Buffer | null> {
  const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()];
  return new Map(
    names.map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isDirectory() ? null : readFileSync(path)];
    }),
  );
}

/** A program that leaves a mark where it was run. */
export function trap(repository: Repository, name: string): { readonly program: string; readonly mark: string } {
  const program = join(dirname(repository.root), `${name}.sh`);
  const mark = join(dirname(repository.root), `${name}.was-run`);
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  return { program, mark };
}

export const HELLO = {
  'handbill.yaml': '{}\n',
  'campaigns/hello/campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n',
  'campaigns/hello/hello.hbs': 'Hello {{name}}, you owe {{amount}}.',
  'campaigns/hello/people.csv': 'msisdn,name,amount\n+447700900001,Ann,10\n+447700900002,Bo,20\n+447700900003,Cy,30\n',
} as const satisfies Files;
