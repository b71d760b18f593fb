import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { configureCommand } from '../../src/cli/configure.ts';
import { COMMANDS } from '../../src/cli/table.ts';
import type { CommandContext } from '../../src/operations/context.ts';
import { readCommands } from '../cli/validation-readers.ts';
import { runHere } from '../helpers/here.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'ci.md'), 'utf8');
const GITLAB = readFileSync(join(ROOT, 'docs', 'examples', 'gitlab-ci.yml'), 'utf8');
const WORKFLOW = readFileSync(join(ROOT, 'docs', 'examples', 'github-actions.yml'), 'utf8');

/** The parts of a workflow that are looked at. */
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly 'timeout-minutes': number;
  readonly steps: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

const workflow = parse(WORKFLOW) as Workflow;
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);
const runs = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));

/** Command lines of handbill in a text, without what a shell does with them. */
function handbillLines(text: string): readonly string[] {
  return [...text.matchAll(/npx (?:--no )?handbill ([^\n]*?)(?: \|\| .*)?'?$/gm)].map(([, args = '']) => args);
}

const CODE = [...PAGE.matchAll(/^```(?:yaml|groovy|sh)\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block).join('\n');
const LINES = [...new Set([...runs, CODE, GITLAB].flatMap(handbillLines))].map((line) => line.replaceAll('"', ''));

describe('command lines of the page and of the workflow', () => {
  it('are there', () => {
    expect(LINES).toContain('validate --format github');
    expect(LINES).toContain('validate --format junit -o handbill.xml');
    expect(LINES.length).toBeGreaterThanOrEqual(6);
  });

  test.each(LINES)('handbill %s', async (line) => {
    const [name = '', ...args] = line.split(' ');
    if (COMMANDS.every((one) => one.name !== name)) throw new Error(`there is no command ${name}`);
    const command = new Command(name).exitOverride().configureOutput({ writeErr: () => undefined });
    await configureCommand(command, name, { env: {} } as CommandContext);
    // Throws where the value of an option is none of its choices.
    const { operands, unknown } = command.parseOptions(args);
    expect(unknown).toEqual([]);
    expect(operands.length).toBeLessThanOrEqual(
      command.registeredArguments.some((one) => one.variadic) ? 9 : command.registeredArguments.length,
    );
  });
});

describe('the workflow for GitHub Actions', () => {
  it('runs for pull requests with the rights of their author', () => {
    expect(Object.keys(workflow.on)).toEqual(['pull_request', 'push']);
    expect(WORKFLOW.replaceAll(/^ *#.*$/gm, '')).not.toContain('pull_request_target');
    expect(WORKFLOW).not.toContain('secrets.');
  });

  it('asks for each right by name', () => {
    expect(workflow.permissions).toEqual({});
    expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
      validate: { contents: 'read' },
      diff: { contents: 'read' },
      comment: { 'pull-requests': 'write' },
    });
    for (const [, job] of jobs) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('runs nothing of the change where it may write a comment', () => {
    const { steps: written = [] } = workflow.jobs['comment'] ?? {};
    const words = written.map(({ uses, run }) => uses ?? run ?? '').join('\n');
    expect(words).not.toMatch(/checkout|npm|npx|node/);
    expect(words).toContain('gh pr comment');
  });

  it('puts no expression into a shell', () => {
    for (const run of runs) expect(run).not.toContain('${{');
    expect(runs.length).toBeGreaterThan(4);
  });

  it('names actions by a major version or a hash, and leaves no token in the checkout', () => {
    const used = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    for (const uses of used) expect(uses).toMatch(/^[\w-]+\/[\w/-]+@(?:v\d+|[0-9a-f]{40})$/);
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual([false, false]);
  });

  it('names only files that a step before has written', () => {
    const written = runs.flatMap((run) => [...run.matchAll(/-o (\S+)/g)].map(([, file]) => file));
    expect(written).toEqual(['diff.md']);
  });
});

/** The steps that check campaigns, as the runner gives them to a shell in a fresh clone. */
describe('its steps in a clone', () => {
  let clone = '';
  const checks = runs.filter((run) => run.startsWith('npx handbill validate'));
  const ENV = { GITHUB_ACTIONS: 'true', CI: 'true' };

  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'handbill-ci-'));
    execFileSync('git', ['init', '-q'], { cwd: clone });
    cpSync(join(ROOT, 'campaigns'), join(clone, 'campaigns'), { recursive: true });
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  const run = async (command: string) => {
    const [args = ''] = handbillLines(command);
    return { args, ...(await runHere(args.split(' '), { cwd: clone, env: ENV })) };
  };

  it('pass for the examples', async () => {
    expect(checks).toEqual(['npx handbill validate --format github']);
    for (const { args, status, stdout } of await Promise.all(checks.map(run))) {
      expect(status, args).toBe(0);
      expect(readCommands(stdout).rest.at(-1)).toMatch(/^0 errors, \d+ warnings? in 18 campaigns\.$/);
    }
  });

  it('fail for a campaign that is broken, and say where', async () => {
    mkdirSync(join(clone, 'campaigns/broken'));
    writeFileSync(join(clone, 'campaigns/broken/campaign.yaml'), 'name: broken\nchanel: sms\n');
    for (const { args, status, stdout } of await Promise.all(checks.map(run))) {
      expect(status, args).toBe(2);
      expect(stdout).toContain('campaigns/broken/campaign.yaml:2');
    }
  });

  it('say what a change means, in a comment that the last job finds again', async () => {
    const git = (...args: readonly string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args],
        { cwd: clone },
      );
    git('add', 'campaigns');
    git('commit', '-qm', 'before');
    writeFileSync(join(clone, 'campaigns/notification/parcel.hbs'), 'Your parcel is near.');
    git('commit', '-qam', 'after');
    const diff = runs.find((line) => line.startsWith('npx handbill diff')) ?? '';
    await run(diff);
    const [, marker = 'none'] = /startswith\("(.*?)"\)/.exec(runs.find((line) => line.includes('gh api')) ?? '') ?? [];
    const text = readFileSync(join(clone, 'diff.md'), 'utf8');
    expect(text.startsWith(marker)).toBe(true);
    expect(text).toContain('notification');
  });
});

describe('the page', () => {
  it('has YAML that can be read', () => {
    const blocks = [...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => parse(block));
    const [action, hook, local] = blocks;
    expect(Object.keys(action.jobs)).toEqual(['check', 'comment']);
    expect(hook.repos[0].hooks).toEqual([{ id: 'handbill-validate' }]);
    expect(local.repos[0].hooks[0]).toMatchObject({
      entry: 'npx --no handbill validate --quiet',
      pass_filenames: false,
    });
  });

  describe('in a folder', () => {
    let folder = '';
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'handbill-ci-'));
      mkdirSync(join(folder, '.git'));
      mkdirSync(join(folder, 'campaigns/hello'), { recursive: true });
      const yaml = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';
      writeFileSync(join(folder, 'campaigns/hello/campaign.yaml'), yaml);
      writeFileSync(join(folder, 'campaigns/hello/people.csv'), 'msisdn\n+447911123456\n12\n');
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('shows annotations as they are', async () => {
      const [, shown = ''] = /^```text\n(::error[\s\S]*?)^```$/m.exec(PAGE) ?? [];
      const { stdout } = await runHere(['validate', '--format', 'github'], { cwd: folder });
      expect(stdout).toBe(shown);
    });

    it('says how a volume that is missing becomes an error', async () => {
      const dockerfile = readFileSync(join(ROOT, 'docs', 'deploy', 'Dockerfile'), 'utf8');
      const [, marker = ''] = /\/(\.ledger\.db\.marker)$/m.exec(dockerfile) ?? [];
      const ledger = join(folder, 'volume', 'ledger.db');
      mkdirSync(join(folder, 'volume'), { mode: 0o700 });
      writeFileSync(join(folder, 'volume', marker), '');
      const args = ['send', 'hello', '--allow', 'invalid-rows', '--quiet'];
      const refused = await runHere(args, { cwd: folder, env: { HANDBILL_LEDGER: ledger } });
      expect(refused.status).toBe(7);
      expect(refused.stderr).toContain('error[ledger-missing]');
      expect(existsSync(ledger)).toBe(false);
    });
  });
});
