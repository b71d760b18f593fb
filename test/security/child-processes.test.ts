import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/*
 * S35: no shell, ever; child processes for git and ssh-keygen alone, with fixed words, and nothing from data where an
 * option could be. An older Node starts handbill itself under the one that npm installed beside it.
 */

const ROOT = join(import.meta.dirname, '..', '..');

/** Which file may start which program, by which functions: none of them knows a shell. */
const ALLOWED: readonly { readonly file: string; readonly program: string; readonly functions: readonly string[] }[] = [
  { file: 'util/git', program: 'git', functions: ['execFile', 'spawn'] },
  { file: 'approval/ssh-keygen', program: 'ssh-keygen', functions: ['spawn'] },
];

/** Everything in Node that starts a process, or code that is text. */
const MODULES = /['"](?:node:)?(?:child_process|cluster|worker_threads|vm|inspector|repl)['"]/;
const STARTING = /\b(?:execve|binding|dlopen|_linkedBinding)\s*\(/;
const CODE_FROM_TEXT = /\beval\s*\(|\bnew Function\b|[^.\w]Function\s*\(/;

interface Source {
  /** Below src or dist, without its ending. */
  readonly name: string;
  readonly text: string;
}

function sourcesBelow(folder: string, ending: string): readonly Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
    .flatMap((name) => {
      const text = readFileSync(join(ROOT, folder, name), 'utf8');
      return partsOf(text) ?? { name: name.slice(0, -ending.length).replaceAll('\\', '/'), text };
    })
    .map(({ name, text }) => ({ name, text: withoutComments(text) }));
}

/** The sources of a chunk of the build, which names each; null for a source. Those of other packages are not ours to judge. */
function partsOf(text: string): readonly Source[] | null {
  const [, ...named] = text.split(/^\/\/ ((?:src\/|node_modules\/|late:).+)$/m);
  if (named.length === 0) return null;
  // A file whose imports are above another file in the chunk has two parts.
  const parts = Map.groupBy(
    named.flatMap((name, i) => (i % 2 === 0 && name.startsWith('src/') ? { name, text: named[i + 1] ?? '' } : [])),
    ({ name }) => name.replace(/^src\/|\.ts$/g, ''),
  );
  return [...parts].map(([name, all]) => ({ name, text: asWritten(all.map(({ text }) => text).join('\n')) }));
}

/** The build loads the module late, from the chunk that has it: `(0, import_node_child_process.spawn)(`. */
function asWritten(text: string): string {
  const calls = /\(0, import_node_child_process\d*\.(\w+)\)/g;
  const names = [...new Set([...text.matchAll(calls)].map(([, name]) => name))].join(', ');
  const called = text
    .replaceAll(calls, '$1')
    .replaceAll(/var import_node_child_process\d* = __toESM\(.*\);/g, `import { ${names} } from 'node:child_process';`)
    .replaceAll(/\bimport_node_child_process\d*/g, "'child_process'");
  return withoutNumbers(called);
}

/** The build numbers a name that several files of a chunk import: `spawn as spawn2`. */
function withoutNumbers(text: string): string {
  return [...text.matchAll(/\b(\w+) as \1(\d+)\b/g)].reduce(
    (before, [whole, name = '', number = '']) =>
      before.replace(whole, name).replaceAll(new RegExp(`\\b${name}${number}\\b`, 'g'), name),
    text,
  );
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

/** What is wrong with the sources, in one sentence each; empty means sound. */
function problems(sources: readonly Source[]): string[] {
  return sources.flatMap(({ name, text }) => {
    const allowed = ALLOWED.find(({ file }) => file === name);
    const wrong: string[] = [];
    if (allowed === undefined && MODULES.test(withoutOwnNode(name, withoutOwnThread(name, text))))
      wrong.push(`${name} starts processes`);
    if (STARTING.test(text)) wrong.push(`${name} replaces or extends the process`);
    if (CODE_FROM_TEXT.test(text)) wrong.push(`${name} makes code from text`);
    return [...wrong, ...(allowed === undefined ? [] : faultsOf(allowed, text))];
  });
}

/** The connection to a shared ledger is in a thread, whose script is a file of ours: no text, and nothing from data. */
function withoutOwnThread(name: string, text: string): string {
  if (name === 'ledger/postgres/thread')
    return text.replace(/import\s*\{\s*workerData\s*\}\s*from\s*['"]node:worker_threads['"]/, '');
  const opens = /new Worker\(scriptOfThread\(\), \{/.test(text) && !/\beval\s*:/.test(text);
  return name === 'ledger/postgres/bridge' && opens ? text.replace(/from\s*['"]node:worker_threads['"]/, '') : text;
}

/**
 * An older Node starts handbill once more, under the Node that npm installed beside it: the same words, and no shell. In
 * the cache of npx it lets npm fetch that Node, by fixed words.
 */
function withoutOwnNode(name: string, text: string): string {
  if (name !== 'cli/older-node') return text;
  return text
    .replace(/import\s*\{\s*(?:execFileSync, )?spawn\s*\}\s*from\s*['"]node:child_process['"]/, '')
    .replace(/\bexecFileSync\(here\.execPath, words, \{ stdio: ['"]ignore['"] \}\)/, '')
    .replace(/\bspawn\(node, \[\.\.\.here\.execArgv, \.\.\.here\.argv\.slice\(1\)\], \{ stdio: TIED, env \}\)/, '')
    .replace(/\b(?:spawn|execFileSync)\(/g, "'child_process'");
}

function faultsOf({ file, program, functions }: (typeof ALLOWED)[number], text: string): string[] {
  const imports = [...text.matchAll(/import\s*\{([^}]*)\}\s*from\s*['"]node:child_process['"]/g)];
  const named = imports.flatMap(([, names = '']) => names.split(',').map((one) => one.trim()));
  const others = text.replaceAll(/import\s*\{[^}]*\}\s*from\s*['"]node:child_process['"]/g, '');
  const calls = functions.flatMap((name) => [...text.matchAll(new RegExp(`[^.\\w]${name}\\(([^,)]*)`, 'g'))]);
  return [
    ...named.filter((name) => !functions.includes(name)).map((name) => `${file} imports ${name}`),
    ...(MODULES.test(others) ? [`${file} loads child_process in another way`] : []),
    ...calls
      .filter(([, first]) => first !== `'${program}'` && first !== `"${program}"`)
      .map(([call]) => `${file}: ${call.trim()}`),
    ...(/\bshell\s*:(?!\s*false\b)/.test(text) ? [`${file} asks for a shell`] : []),
    ...(calls.length === 0 ? [`${file} starts nothing: take it off the list`] : []),
  ];
}

describe('what may start a process', () => {
  test.each([
    { folder: 'src', ending: '.ts' },
    { folder: 'dist', ending: '.js' },
  ])('$folder', ({ folder, ending }) => {
    const sources = sourcesBelow(folder, ending);
    expect(sources.length).toBeGreaterThan(100);
    expect(problems(sources)).toEqual([]);
  });

  test.each([
    ["import { exec } from 'node:child_process';\nexec(command);", /starts processes/],
    ["const { spawn } = await import('child_process');", /starts processes/],
    ["process.binding('spawn_sync');", /replaces or extends/],
    ["new Function('return 1')();", /code from text/],
    ["import { Worker } from 'node:worker_threads';", /starts processes/],
  ])('is noticed: %s', (text, says) => {
    expect(problems([{ name: 'report/evil', text }]).join('; ')).toMatch(says);
  });

  test.each([
    "import { spawn } from 'node:child_process';\nspawn(program, [...here.execArgv, ...here.argv.slice(1)], { stdio: TIED, env });",
    "import { spawn, exec } from 'node:child_process';",
    "import { spawn } from 'node:child_process';\nspawn(node, [...here.execArgv, ...here.argv.slice(1)], { stdio: TIED, env, shell: true });",
  ])('is noticed where handbill is started again: %s', (text) => {
    expect(problems([{ name: 'cli/older-node', text }])).toEqual(['cli/older-node starts processes']);
  });

  test.each([
    ["import { execSync } from 'node:child_process';\nspawn('git', []);", /imports execSync/],
    ["import { spawn } from 'node:child_process';\nspawn(program, []);", /spawn\(program/],
    ["import { spawn } from 'node:child_process';\nspawn('git', [], { shell: process.platform });", /asks for a shell/],
    ["import * as all from 'node:child_process';\nspawn('git', []);", /in another way/],
  ])('is noticed where git is started: %s', (text, says) => {
    expect(problems([{ name: 'util/git', text }]).join('; ')).toMatch(says);
  });
});

/** A folder of programs that note how they were called; `git` is the real one behind that. */
function watched(project: TestProject): {
  readonly path: string;
  readonly calls: () => readonly (readonly string[])[];
} {
  const log = project.path('calls.log');
  const git = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'git'))
    .find(existsSync);
  const names = ['git', 'sh', 'bash', 'ssh', 'ssh-keygen', 'npm', 'npx', 'curl', 'open', 'xdg-open', 'env', 'touch'];
  for (const name of names) {
    // The shell by its path: it is this test that starts it.
    const rest = name === 'git' && git !== undefined ? `exec ${realpathSync(git)} "$@"` : 'exit 1';
    project.write(
      `programs/${name}`,
      `#!/bin/sh\nprintf '%s\\037' ${name} "$@" >> ${log}\nprintf '\\036' >> ${log}\n${rest}\n`,
    );
    chmodSync(project.path(`programs/${name}`), 0o755);
  }
  const calls = (): readonly (readonly string[])[] => {
    if (!existsSync(log)) return [];
    const records = readFileSync(log, 'utf8').split('\x1e');
    return records.slice(0, -1).map((record) => record.split('\x1f').slice(0, -1));
  };
  return { path: project.path('programs'), calls };
}

const CAMPAIGN = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n';
const HOSTILE = [
  '--upload-pack=touch made',
  '$(touch made)',
  '--output=made',
  '`touch made`',
  ';touch made',
  '-c',
  '|touch made',
];

describe('hostile names', () => {
  test('of a campaign are not names', async () => {
    using project = createProject({
      'campaign.yaml': CAMPAIGN.replace('name: hello', 'name: --upload-pack=x'),
      'hello.hbs': 'Hi',
      'people.csv': 'msisdn\n+447400100000\n',
    });
    const { path, calls } = watched(project);
    const { status, stderr, stdout } = await runCli(['validate', 'campaign.yaml'], {
      cwd: project.root,
      env: { PATH: path },
    });
    expect({ status, calls: calls() }).toEqual({ status: 2, calls: [] });
    expect(stdout + stderr).toMatch(/--upload-pack=x|name/);
  });

  test('of folders and files are never run, nor taken for options', { timeout: 60_000 }, async () => {
    using project = createProject({});
    for (const name of HOSTILE) {
      project.write(`${name}/campaign.yaml`, CAMPAIGN);
      project.write(`${name}/hello.hbs`, 'Hi {{name}}');
      project.write(`${name}/people.csv`, 'msisdn,name\n+447400100000,$(touch made)\n');
    }
    const { path, calls } = watched(project);
    const run = (...args: readonly string[]) => runCli(args, { cwd: project.root, env: { PATH: path } });
    await run('validate');
    const [name = ''] = HOSTILE;
    await run('preview', '--', name);
    const sent = await run('send', '--', `./${HOSTILE[1]}`);
    expect(sent.status, sent.stderr).toBe(0);
    await run('report');
    await run('purge', '--older-than', '1s', '--yes', '--campaign', '$(touch made)');
    expect(calls()).toEqual([]);
    expect(existsSync(project.path('made'))).toBe(false);
  });

  test('of revisions and campaigns are where git takes no options', { timeout: 60_000 }, async () => {
    using project = createProject({
      'campaign.yaml': CAMPAIGN,
      'hello.hbs': 'Hi',
      'people.csv': 'msisdn\n+447400100000\n',
    });
    const { path, calls } = watched(project);
    const run = (...args: readonly string[]) => runCli(args, { cwd: project.root, env: { PATH: path } });
    writeFileSync(project.path('.gitignore'), 'programs\ncalls.log\n');
    execFileSync('git', ['init', '-q'], { cwd: project.root });
    for (const name of HOSTILE.slice(0, 3)) await run('diff', '--', name, name);
    const made = calls();
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(([program]) => program))).toEqual(new Set(['git']));
    for (const [, ...args] of made) {
      const at = args.findIndex((arg) => HOSTILE.some((name) => arg.includes(name)));
      const before = args.slice(0, at).some((arg) => arg === '--' || arg === '--end-of-options');
      expect(at === -1 || before || relative(project.root, args[at] ?? '').startsWith('..'), args.join(' ')).toBe(true);
    }
    expect(existsSync(project.path('made'))).toBe(false);
  });
});
