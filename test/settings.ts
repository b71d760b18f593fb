import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { TestUserConfig } from 'vitest/config';
import { compiledFolder, inMemory } from './temporary.ts';

/**
 * Tests find the same on every machine, in this process and in those that it starts: the locale, the time zone, the mode of
 * new files, a place for compiled sources, and git without the configuration of a user, who may sign commits, colour all
 * output or have hooks of their own.
 */
function neutral(): void {
  for (const name of Object.keys(process.env)) if (/^(?:LANG|LC_|GIT_)/.test(name)) delete process.env[name];
  Object.assign(process.env, {
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    NODE_COMPILE_CACHE: compiledFolder(),
    ...{ GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' },
  });
  process.umask(0o022);
}
neutral();

/**
 * What every run of tests and proofs has in common; a project of `proofs.config.ts` has these too.
 *
 * @param onDisk - temporary files lie on the disk, where each fsync takes 2 ms, and not in memory
 */
export function settings({ full, onDisk = false }: { readonly full: boolean; readonly onDisk?: boolean }) {
  return {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // The whole sets run up to fifty times as much, with disk tests at the same time, which keep a machine busy.
    testTimeout: full ? 300_000 : 60_000,
    hookTimeout: full ? 300_000 : 60_000,
    // However busy the machine is: a page shows what it was asked for later, not something else.
    expect: { poll: { timeout: 30_000 } },
    env: { ...(full ? { HANDBILL_FULL: '1' } : {}), ...(onDisk ? {} : inMemory(process.env)) },
    // A process for each file costs 0.5 s of CPU: to start, and to load handbill and its libraries once more. No file
    // leaves anything behind for the next: no mock, no variable of the environment, no server.
    isolate: false,
    // Node reads the sources itself, as it does for users. Vite's own loader takes a tenth more CPU, to transform each file
    // and because each name that is imported becomes a look-up.
    experimental: { viteModuleRunner: false },
    // Once more where a busy machine took too long; never where something was not as expected, which a second try
    // would only hide.
    retry: { count: 1, condition: /^(?:Test timed out|waited \d+ ms in vain)/ },
  } satisfies TestUserConfig;
}

/** Two cores: more workers only compete for them, and many tests start processes of their own. */
export const MAX_WORKERS = 2;

/** What `npm run test:proofs` runs whole, because a sample of it shows little. */
export const WHOLE: readonly string[] = [
  'test/ledger/on-postgres*.test.ts',
  'test/ledger/{postgres*,worker-store}.test.ts',
  'test/web/one-moment.test.ts',
  'test/e2e/shared-ledger.test.ts',
  'test/kills/{shared,listen}.test.ts',
  'test/workers/*.test.ts',
  'test/disk/{full-disk,power-loss}.test.ts',
  'test/processes/terminal.test.ts',
  'test/security/*.test.ts',
  'test/deploy/installed.test.ts',
  // Every page in every width and both schemes.
  'test/web/screens.test.ts',
];

/**
 * What it runs as a sample, as `test/vitest.config.ts` does; whole sets of these take an hour. `npm test` starts neither a
 * browser nor PostgreSQL, which takes a tenth of its time and packages that a new clone may not have.
 */
export const SAMPLES: readonly string[] = [
  ...['disk', 'fuzz', 'kills', 'processes', 'simulate'].map((folder) => `test/${folder}/**/*.test.ts`),
  // Servers that misbehave at every moment and on every connection; the others of its folder stay in `npm test`.
  'test/faults/{behaviours,connections}.test.ts',
  // A copy of the sources with a toy entry of each list, type-checked and run.
  'test/house/additions.test.ts',
  // What npm packs, as an empty project gets it.
  'test/deploy/package.test.ts',
  'test/library/{package,older-node}.test.ts',
  // A browser reads these pages, which `npm test` reads as text; and a person at a terminal sees these commands.
  'test/web/{charts,clicks,document,preview,preview-hostile,report-browser}.test.ts',
  'test/web/{serve-names,serve-narrow,serve-now,serve-pages,serve-replies,serve-scale}.test.ts',
  'test/cli/terminal.test.ts',
  // Several processes that meet: sender and receiver, those on both sides of a pipe, and a git that lies.
  'test/e2e/came-back.test.ts',
  'test/cli/piped-list.test.ts',
  'test/http/killed.test.ts',
  'test/send/frequency-processes.test.ts',
  // Random projects, rehearsed and then sent: a call of `due` for each hour of some days.
  'test/rehearse/oracle.test.ts',
  'test/diff/hostile.test.ts',
  // Pages that are followed command by command: the README from a clone on, guides, recipes, the steps of pipelines.
  'test/e2e/ten-minutes.test.ts',
  'test/docs/{ci-runs,recipes,walkthroughs}.test.ts',
];
