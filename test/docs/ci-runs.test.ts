import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';

/* The action, the pipeline of GitLab and the hook of pre-commit: their steps, done by a shell in a repository. */

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Step {
  readonly name: string;
  readonly if: string;
  readonly run?: string;
  readonly uses?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const ACTION = read('action.yml');
const action = parse(ACTION) as Action;

let folder = '';
let repository = '';

const YAML = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n';

function write(path: string, text: string): void {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), text);
}

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...who, ...args], { cwd: repository, encoding: 'utf8' });
}

/** A repository with two commits; the second adds a recipient. */
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-ci-runs-')));
  repository = join(folder, 'repository');
  mkdirSync(join(repository, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(ROOT, 'dist/cli.js'), join(repository, 'node_modules/.bin/handbill'));
  write('package.json', '{ "private": true, "dependencies": { "handbill": "0.1.0" } }\n');
  write('.gitignore', 'node_modules/\n');
  write('campaigns/hello/campaign.yaml', YAML);
  write('campaigns/hello/people.csv', 'msisdn,name\n+447911123456,Ada\n');
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'before');
  write('campaigns/hello/people.csv', 'msisdn,name\n+447911123456,Ada\n+447911123457,Bo\n');
  git('commit', '-qam', 'after');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs commands as a runner does. */
function shell(script: string, env: Readonly<Record<string, string>> = {}, cwd = repository) {
  const path = [join(folder, 'bin'), NODE, process.env['PATH']].join(':');
  const options = { cwd, encoding: 'utf8', env: { PATH: path, HOME: folder, CI: 'true', TZ: 'UTC', ...env } } as const;
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], options);
}

describe('action.yml', () => {
  const { steps } = action.runs;
  const shells = steps.filter(({ run }) => run !== undefined);
  const named = (name: string): Step => {
    const found = steps.find((step) => step.name.startsWith(name));
    if (found === undefined) throw new Error(`action.yml has no step "${name}".`);
    return found;
  };

  it('is a composite action whose inputs are explained and have a default', () => {
    expect(action.runs.using).toBe('composite');
    for (const input of Object.values(action.inputs)) {
      expect(input.description.length).toBeGreaterThan(20);
      expect(input.default).toBeTypeOf('string');
    }
    const used = [...ACTION.matchAll(/inputs\.(\w+)/g)].map(([, name = '']) => name);
    expect(new Set(used)).toEqual(new Set(Object.keys(action.inputs)));
  });

  it('puts no expression into a shell, and names actions by a major version', () => {
    for (const { run, shell: name } of shells) expect([run?.includes('${{'), name]).toEqual([false, 'bash']);
    for (const { uses } of steps.filter((step) => step.uses !== undefined))
      expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
  });

  it('runs nothing of the change in the job that may write the comment', () => {
    const writing = steps.filter((step) => step.if.includes("inputs.job == 'comment'"));
    expect(steps.filter((step) => !/inputs\.job == '(?:check|comment)'/.test(step.if))).toEqual([]);
    expect(writing.map(({ uses, run }) => uses ?? run).join('\n')).not.toMatch(/checkout|npm|npx|node/);
  });

  it('comments as the workflow to copy does', () => {
    const workflow = parse(read('docs/examples/github-actions.yml')) as {
      readonly jobs: { readonly comment: { readonly steps: readonly Step[] } };
    };
    expect(named('Comment on').run).toBe(workflow.jobs.comment.steps.at(-1)?.run);
  });

  /** The values that a runner puts in the place of expressions. */
  function run(step: Step, inputs: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}) {
    const values = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, written]) => {
        const [, input = ''] = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(written) ?? [];
        return [name, inputs[input] ?? action.inputs[input]?.default ?? written];
      }),
    );
    const files = { RUNNER_TEMP: join(folder, 'temp'), GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
    return shell(step.run ?? 'exit 9', { GITHUB_ACTIONS: 'true', ...values, ...files, ...env });
  }

  it('installs nothing where handbill is there already', () => {
    expect(run(named('Install handbill'))).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('marks what is wrong beside its line, and fails', () => {
    const fine = run(named('Check campaigns'));
    expect([fine.status, fine.stdout], fine.stderr).toEqual([0, '0 errors, 0 warnings in 1 campaign.\n']);
    write('campaigns/hello/campaign.yaml', YAML.replace('channel', 'chanel'));
    const { status, stdout } = run(named('Check campaigns'));
    write('campaigns/hello/campaign.yaml', YAML);
    expect([status, stdout]).toEqual([
      2,
      expect.stringMatching(/^::error file=campaigns\/hello\/campaign\.yaml,line=2,/),
    ]);
  });

  it('says what the change means, in the summary and in a file to keep', () => {
    const { status, stderr } = run(named('Say what'));
    expect(status, stderr).toBe(0);
    const text = readFileSync(join(folder, 'temp/handbill-diff/diff.md'), 'utf8');
    expect(text.startsWith('<!-- handbill diff -->')).toBe(true);
    expect(text).toContain('hello');
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toBe(text);
    expect(named('Keep what').with?.['path']).toMatch(/^\$\{\{ runner\.temp \}\}\/handbill-diff\/diff\.md$/);
  });

  it('says what the change does to the next days, where it is asked to', () => {
    const schedule = `${YAML}schedule: { cron: 0 9 * * *, timeZone: UTC }\n`;
    write('campaigns/hello/campaign.yaml', schedule);
    const { status, stderr } = run(named('Say what'), { days: '3', environment: 'sandbox' });
    write('campaigns/hello/campaign.yaml', YAML);
    expect(status, stderr).toBe(0);
    const text = readFileSync(join(folder, 'temp/handbill-diff/diff.md'), 'utf8');
    // Two or three times, by the time of the day.
    expect(text).toMatch(/In the next 3 days this change sends [46] messages more: [46] instead of 0\./);
    expect(run(named('Say what'), { days: '3 --recipients /etc/passwd' }).status).toBe(2);
  });

  it('says it of a change that does not validate too, and fails', () => {
    write('campaigns/hello/campaign.yaml', YAML.replace('{{name}}', '{{nane}}'));
    const { status } = run(named('Say what'));
    write('campaigns/hello/campaign.yaml', YAML);
    expect(status).toBe(2);
    expect(readFileSync(join(folder, 'temp/handbill-diff/diff.md'), 'utf8')).toContain('nane');
  });

  it('fails where there is no such commit, and keeps no summary of it', () => {
    rmSync(join(folder, 'temp'), { recursive: true, force: true });
    rmSync(join(folder, 'summary.md'), { force: true });
    expect(run(named('Say what'), { base: 'no-such-commit' }).status).toBe(2);
    expect(existsSync(join(folder, 'summary.md'))).toBe(false);
  });

  it('makes a page of each campaign that is named, and takes no command from a name', () => {
    const { status, stderr } = run(named('Make pages'), { preview: 'hello  campaigns/hello' });
    expect(status, stderr).toBe(0);
    for (const name of ['hello', 'campaigns-hello'])
      expect(readFileSync(join(folder, `temp/handbill-preview/${name}.html`), 'utf8')).toContain('<!doctype html>');
    expect(run(named('Make pages'), { preview: '$(touch$IFS../evil)' }).status).not.toBe(0);
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  describe('comments on the pull request', () => {
    /** Writes down what it is called with; answers with the comment that there is. */
    function comment(found: string): string {
      mkdirSync(join(folder, 'bin'), { recursive: true });
      const program = join(folder, 'bin', 'gh');
      writeFileSync(
        program,
        `#!/bin/sh\necho "$@" >> "${folder}/gh.log"\ncase "$*" in *--paginate*) printf '%s' "$FOUND";; esac\n`,
      );
      chmodSync(program, 0o755);
      rmSync(join(folder, 'gh.log'), { force: true });
      const values = { GH_REPO: 'ada/shop', PULL_REQUEST: '7', FOUND: found };
      const { status, stderr } = shell(named('Comment on').run ?? '', values);
      expect(status, stderr).toBe(0);
      return readFileSync(join(folder, 'gh.log'), 'utf8').split('\n').at(-2) ?? '';
    }

    it('with a new comment', () => {
      expect(comment('')).toBe('pr comment 7 --body-file diff.md');
    });

    it('or brings the one that is there up to date', () => {
      expect(comment('42\n')).toBe('api --silent --method PATCH repos/ada/shop/issues/comments/42 -F body=@diff.md');
    });
  });
});

describe('the pipeline of GitLab', () => {
  interface Job {
    readonly extends: string;
    readonly rules: readonly { readonly if: string }[];
    readonly script: readonly string[];
    readonly artifacts: { readonly paths?: readonly string[]; readonly reports?: { readonly junit: string } };
  }
  const { '.campaigns': template, ...jobs } = parse(read('docs/examples/gitlab-ci.yml')) as Record<string, Job>;

  it('has jobs that install what package-lock.json has', () => {
    expect(template).toMatchObject({ image: 'node:24', before_script: ['npm ci --cache .npm'] });
    expect(Object.keys(jobs)).toEqual(['campaigns', 'campaigns-diff', 'campaigns-preview']);
    for (const job of Object.values(jobs)) expect(job.extends).toBe('.campaigns');
  });

  test.each(Object.entries(jobs))('%s runs, and makes what it keeps', (_, { script, artifacts }) => {
    const base = git('rev-parse', 'HEAD^').trim();
    const env = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base, PREVIEW_CAMPAIGNS: 'hello' };
    const { status, stderr } = shell(script.join('\n'), env);
    expect(status, stderr).toBe(0);
    for (const path of [
      ...(artifacts.paths ?? []),
      ...(artifacts.reports === undefined ? [] : [artifacts.reports.junit]),
    ]) {
      expect(existsSync(join(repository, path)), path).toBe(true);
      rmSync(join(repository, path), { recursive: true });
    }
  });
});

describe('the hook of pre-commit', () => {
  const [hook] = parse(read('.pre-commit-hooks.yaml')) as readonly Readonly<Record<string, string | boolean>>[];

  it('brings the Node.js that handbill is tested with, and looks at all campaigns', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as {
      readonly devDependencies: { readonly node: string };
    };
    expect(hook).toMatchObject({ language: 'node', language_version: devDependencies.node, pass_filenames: false });
  });

  test.each<[path: string, isOurs: boolean]>([
    ['campaigns/hello/people.csv', true],
    ['shop/campaigns/hello/people.csv', true],
    ['handbill.yaml', true],
    ['shop/handbill.yaml', true],
    ['src/mycampaigns/a.ts', false],
    ['nothandbill.yaml', false],
  ])('%s: %s', (path, isOurs) => {
    expect(new RegExp(String(hook?.['files'])).test(path)).toBe(isOurs);
  });

  it('says nothing while all is well, and stops the commit where something is wrong', () => {
    const entry = `PATH=node_modules/.bin:$PATH; ${hook?.['entry']}`;
    expect(shell(entry)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    write('campaigns/hello/people.csv', 'msisdn,name\n12,Ada\n');
    const { status, stderr } = shell(entry);
    git('checkout', '-q', '.');
    expect([status, stderr]).toEqual([2, expect.stringContaining('error[invalid-address]')]);
  });
});
