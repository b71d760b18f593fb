import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

let project: TestProject;
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'handbill-piped-'));
  project = createProject({
    'handbill.yaml': '{}\n',
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: own.csv\n',
    'hello/own.csv': 'msisdn,name\n+447400123499,Own\n',
    'good.csv': 'msisdn,name\n+447400123456,Ada\n+447400123457,Bo\n',
    'bad.csv': 'msisdn,name\n12,Ada\n',
  });
});
afterEach(() => {
  // Nothing is left of a list, whatever became of the command.
  expect(readdirSync(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
  project[Symbol.dispose]();
});

const piped = (list: string, ...args: readonly string[]) =>
  runCli([...args, '--recipients', '-'], {
    cwd: project.root,
    env: { TMPDIR: temporary },
    via: ['bash', '-c', `cat ${list} | "$@"`, 'pipe'],
  });

it('preview shows the list from the pipe', async () => {
  const { status, stdout } = await piped('good.csv', 'preview', 'hello');
  expect(status).toBe(0);
  expect(stdout).toContain('| Hi Ada');
  expect(stdout).not.toContain('Own');
});

it.each(['preview', 'validate', 'plan'])('%s names a bad row by its line', async (command) => {
  const { status, stdout, stderr } = await piped('bad.csv', command, 'hello');
  expect(status).toBe(2);
  expect(stdout + stderr).toContain('standard input:2');
  expect(stdout + stderr).not.toContain(temporary);
});

it('a plan can be sent with the same bytes in a file, and with no others', async () => {
  expect((await piped('good.csv', 'plan', 'hello', '-o', 'hello.plan')).status).toBe(0);
  const send = (...args: readonly string[]) => runCli(['send', '--plan', 'hello.plan', ...args], { cwd: project.root });
  const alone = await send();
  expect(alone.status).toBe(2);
  expect(alone.stderr).toContain('A list from standard input cannot be used here.');
  expect((await send('--recipients', 'bad.csv')).stderr).toContain('input-changed');
  expect((await send('--recipients', 'good.csv')).status).toBe(0);
});

it.each([
  ['send', 'send', 'hello'],
  ['a dry run of send', 'send', 'hello', '--dry-run'],
])('%s refuses it, and says what to do', async (_, ...args) => {
  const { status, stderr } = await piped('good.csv', ...args);
  expect(status).toBe(2);
  expect(stderr).toContain('error[usage]');
  expect(stderr).toContain('Write it into a file');
});
