import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli, startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { accepting, type RawRequest, startRawServer } from '../helpers/raw-server.ts';

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
    'longer.csv': 'msisdn,name\n+447400123456,Ada\n+447400123457,Bo\n+447400123458,Cy\n',
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
  const send = (...args: readonly string[]) =>
    runHere(['send', '--plan', 'hello.plan', ...args], { cwd: project.root });
  const alone = await send();
  expect(alone.status).toBe(2);
  expect(alone.stderr).toContain('A list from standard input cannot be used here.');
  expect((await send('--recipients', 'bad.csv')).stderr).toContain('input-changed');
  expect(alone.stderr).toContain('--recipients -');
  expect((await send('--recipients', 'good.csv')).status).toBe(0);
});

it('a plan says how it is sent from the same pipe', async () => {
  const made = await piped('good.csv', 'plan', 'hello', '-o', 'hello.plan');
  expect(made.stderr).toContain('Send it with: handbill send --plan hello.plan --recipients -');
  expect((await piped('bad.csv', 'send', '--plan', 'hello.plan')).stderr).toContain('input-changed');
  expect((await piped('good.csv', 'send', '--plan', 'hello.plan')).status).toBe(0);
});

it('send sends to the list from the pipe, and continues with the same list only', async () => {
  const part = await piped('good.csv', 'send', 'hello', '--limit', '1', '--format', 'json');
  expect(JSON.parse(part.stdout).totals).toMatchObject({ recipients: 2, accepted: 1, pending: 1 });
  for (const list of ['hello/own.csv', 'longer.csv']) {
    const other = await piped(list, 'send', 'hello');
    expect(other.status).toBe(2);
    expect(other.stderr).toContain('error[input-changed]');
    expect(other.stderr).toContain('standard input');
  }
  const own = await runHere(['send', 'hello'], { cwd: project.root });
  expect(own.stderr).toContain('error[input-changed]');
  const report = await runHere(['report', 'hello'], { cwd: project.root });
  expect(report.stdout).toContain('handbill send hello --recipients -\n');
  const rest = await piped('good.csv', 'send', 'hello', '--format', 'json');
  expect(rest.status).toBe(0);
  expect(JSON.parse(rest.stdout).totals).toMatchObject({ recipients: 2, accepted: 2, pending: 0 });
});

/** A `send` that waits for an answer, and the folder of its list. */
async function sendingFromPipe() {
  const held: RawRequest[] = [];
  const server = await startRawServer({ behaviour: (request) => void held.push(request) });
  project.write(
    'handbill.yaml',
    `environments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`,
  );
  const running = startCli(['send', 'hello', '--env', 'test', '--yes', '--recipients', '-'], {
    cwd: project.root,
    env: { TMPDIR: temporary, HANDBILL_API_KEY: 'secret-key-of-a-test' },
    // No pipe of its own: signals reach the command.
    via: ['bash', '-c', 'exec "$@" < <(cat good.csv)', 'pipe'],
  });
  await until('a request', () => held.length > 0);
  const [folder = ''] = readdirSync(temporary);
  return { running, server, folder, held };
}

it('a list whose process was killed is removed by the next command with one, and that of a living process is not', async () => {
  const { running, server, folder } = await sendingFromPipe();
  // As on another machine, where the same id is of another process; and of another user, or open to others.
  const foreign = folder.replace(/\.\w+\./, '.ffffffffffff.');
  const open = folder.replace(/\d+/, '999999999');
  for (const name of [foreign, open]) mkdirSync(join(temporary, name), { mode: 0o700 });
  chmodSync(join(temporary, open), 0o755);
  expect((await piped('good.csv', 'preview', 'hello')).status).toBe(0);
  expect(readdirSync(temporary).toSorted()).toEqual([folder, foreign, open].toSorted());
  expect(readdirSync(join(temporary, folder))).toEqual(['list']);
  running.kill('SIGKILL');
  await running.done;
  expect(readdirSync(join(temporary, folder))).toEqual(['list']);
  expect((await piped('good.csv', 'preview', 'hello')).status).toBe(0);
  expect(readdirSync(temporary).toSorted()).toEqual([foreign, open].toSorted());
  for (const name of [foreign, open]) rmdirSync(join(temporary, name));
  await server.close();
});

it('a dry run and a test take it too', async () => {
  const dry = await piped('good.csv', 'send', 'hello', '--dry-run');
  expect(dry.status).toBe(0);
  expect(dry.stdout).toContain('| Hi Ada');
  const test = await piped('good.csv', 'send', 'hello', '--test-to', '+447400123499', '--key', '+447400123457');
  expect(test.status).toBe(0);
  expect(test.stderr).toContain('standard input:3');
});

it('workers are not given a list that they cannot read', async () => {
  const { status, stderr } = await piped('good.csv', 'send', 'hello', '--workers');
  expect(status).toBe(2);
  expect(stderr).toContain('Save the list to a file that every worker can read');
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'a send that %s ends keeps it private and to its end',
  async (signal) => {
    const { running, server, folder, held } = await sendingFromPipe();
    expect(statSync(join(temporary, folder)).mode & 0o777).toBe(0o700);
    expect(statSync(join(temporary, folder, 'list')).mode & 0o777).toBe(0o600);
    running.kill(signal);
    await until('the word of the signal', () => running.stderr().includes('Finishing what is in flight'));
    expect(readdirSync(temporary)).toEqual([folder]);
    server.behaviour = accepting();
    for (const request of held) accepting()(request);
    const { status } = await running.done;
    await server.close();
    expect(status).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
  },
);
