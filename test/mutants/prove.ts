import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Proof } from './mutant.ts';
import { temporaryFolder } from './plant.ts';

/** What tests said. */
export interface Verdict {
  /** Full titles. */
  readonly passed: readonly string[];
  /** Tests that failed because something was not as expected. */
  readonly red: readonly RedTest[];
  /** What else went wrong: files that could not be loaded, tests that threw or took too long, no result at all. */
  readonly broken: readonly string[];
  readonly seconds: number;
}

export interface RedTest {
  readonly title: string;
  /** The first line of what was not as expected. */
  readonly why: string;
}

const LONGEST_MS = 5 * 60_000;

/**
 * Runs tests in a copy of the project. Never rejects for what they do.
 *
 * @param enough failed tests after which the rest is left out; 0: none
 */
export async function prove(root: string, proof: Proof, enough: number): Promise<Verdict> {
  const began = performance.now();
  const output = join(temporaryFolder(root), 'result.json');
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...['--config', 'test/vitest.config.ts', '--reporter', 'json', '--outputFile', output],
    ...['--maxWorkers', '1', '--bail', String(enough)],
    ...(proof.only === undefined ? [] : [`--testNamePattern=${proof.only}`]),
    `test/${proof.in}`,
  ];
  const said = await run(root, args, {
    HANDBILL_MUTANT: '1',
    ...(proof.full === true ? { HANDBILL_FULL: '1' } : {}),
  });
  return { ...verdict(output, said.text), seconds: (performance.now() - began) / 1000 };
}

/** What the compiler says of the sources in a copy; empty when it is content. */
export async function typeErrors(root: string): Promise<string> {
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { status, text } = await run(root, [tsc, '-p', 'tsconfig.mutant.json']);
  return status === 0 ? '' : text.trim();
}

interface AssertionResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly AssertionResult[];
}

function verdict(output: string, said: string): Omit<Verdict, 'seconds'> {
  let files: readonly TestFile[];
  try {
    files = (JSON.parse(readFileSync(output, 'utf8')) as { testResults: readonly TestFile[] }).testResults;
  } catch {
    return { passed: [], red: [], broken: [`no result: ${said.trim().slice(-2000)}`] };
  }
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.filter(({ status }) => status === 'failed');
  const red = failed.flatMap(({ fullName, failureMessages }) => {
    const why = failureMessages.find(isExpectation);
    return why === undefined ? [] : [{ title: fullName.trim(), why: firstLine(why) }];
  });
  const broken = [
    ...failed
      .filter(({ failureMessages }) => !failureMessages.some(isExpectation))
      .map(({ fullName, failureMessages }) => `${fullName.trim()}: ${firstLine(failureMessages[0] ?? '')}`),
    ...files
      .filter(
        ({ status, assertionResults }) =>
          status === 'failed' && !assertionResults.some(({ status }) => status === 'failed'),
      )
      .map(({ name, message }) => `${name}: ${firstLine(message ?? '')}`),
  ];
  const passed = tests.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName.trim());
  return { passed, red, broken };
}

/** `expect` (also of a promise or polled), and the properties of fast-check. A time limit or a TypeError is none. */
function isExpectation(message: string): boolean {
  return /^(?:AssertionError|Error: (?:Property failed|promise (?:resolved|rejected) |expected ))/.test(message);
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}

/** Runs a script under the project's Node in a process group of its own, which is gone when this resolves. */
function run(
  root: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ status: number | null; text: string }> {
  const node = join(root, 'node_modules/node/bin/node');
  const { PATH, HOME } = process.env;
  const TMPDIR = temporaryFolder(root);
  const child = spawn(node, args, { cwd: root, detached: true, env: { PATH, HOME, TMPDIR, ...env } });
  const endAll = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // No process is left in it.
    }
  };
  const timer = setTimeout(endAll, LONGEST_MS);
  process.once('exit', endAll);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    // What it started may outlive it and hold its output open.
    child.on('exit', endAll);
    child.on('close', (status) => {
      clearTimeout(timer);
      process.off('exit', endAll);
      resolve({ status, text });
    });
  });
}
