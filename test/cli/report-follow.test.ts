import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { DeliveryState } from '../../src/model.ts';
import { type RunningCli, startCli } from '../helpers/cli.ts';
import { deliveryOf, receive } from '../helpers/events.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const PEOPLE = ['+447700900001', '+447700900002'];
let root = '';
let remove = async (): Promise<void> => undefined;
let ids: readonly string[] = [];

beforeEach(async () => {
  ({ root, remove } = await projectWith({
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello" }\nrecipients: people.csv\n',
    'hello/people.csv': `msisdn\n${PEOPLE.join('\n')}\n`,
  }));
  await handbillHere(root, ['send', 'hello', '--quiet']);
  const { out } = await handbillHere(root, ['report', '--format', 'jsonl']);
  ids = jsonLines(out).map(({ messageId }) => messageId);
});
afterEach(() => remove());

function come(...reports: readonly (readonly [message: number, state: DeliveryState])[]): void {
  const events = reports.map(([message, state]) =>
    deliveryOf({ messageId: ids[message] ?? '', atMs: Date.now(), state }),
  );
  receive(join(root, '.handbill/ledger.db'), events);
}

interface Following {
  readonly cli: RunningCli;
  /** Resolves when so many lines were printed. */
  until(lines: number): Promise<readonly string[]>;
}

function follow(...args: readonly string[]): Following {
  const cli = startCli(['report', '--follow', ...args], { cwd: root });
  const lines = (): readonly string[] => cli.stdout().split('\n').slice(0, -1);
  return {
    cli,
    async until(count) {
      while (lines().length < count) await sleep(20);
      return lines();
    },
  };
}

it('prints a line for each change, and ends when nothing more is to come', async () => {
  const following = follow();
  const first = await following.until(1);
  expect(first[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ finished: 2 of 2 sent\.$/);
  come([0, 'sent']);
  expect((await following.until(2))[1]).toContain('finished: 2 of 2 sent. Latest reports: 1 sent.');
  come([0, 'delivered'], [1, 'failed']);
  expect(await following.cli.done).toMatchObject({ status: 0, stderr: '' });
  expect((await following.until(3)).slice(2)).toEqual([
    expect.stringContaining('finished: 1 of 2 delivered, 1 not delivered. Latest reports: 1 delivered, 1 failed.'),
  ]);
});

it('prints each recipient with a new delivery report or reply', async () => {
  come([0, 'sent']);
  const following = follow('--format', 'jsonl');
  const shown = (line: string | undefined): unknown => {
    const { messageId, delivery } = JSON.parse(line ?? '');
    return [ids.indexOf(messageId), delivery];
  };
  expect((await following.until(1)).map(shown)).toEqual([[0, 'sent']]);
  come([0, 'sent'], [1, 'read']);
  expect((await following.until(2)).slice(1).map(shown)).toEqual([[1, 'read']]);
  come([0, 'delivered']);
  expect(await following.cli.done).toMatchObject({ status: 0, stderr: '' });
  expect((await following.until(3)).slice(2).map(shown)).toEqual([[0, 'delivered']]);
});

it('ends with a signal, and with the status of that signal', async () => {
  const following = follow();
  await following.until(1);
  following.cli.kill('SIGTERM');
  expect(await following.cli.done).toMatchObject({ status: 143, stderr: '' });
});

it('draws the same lines again on a terminal, and the whole report in the end', async () => {
  come([0, 'delivered']);
  const drawn: string[] = [];
  const context = {
    cwd: root,
    env: {},
    now: Date.now,
    width: 50,
    out: (text: string) => {
      if (drawn.push(text) === 1) come([1, 'expired']);
    },
    err: () => undefined,
    colour: { out: true, err: true },
    interactive: true,
    exit: () => undefined,
  };
  await runProgram(['report', '--follow'], context);
  const [first = '', second = '', ...rest] = drawn;
  const lines = first.split('\n').slice(0, -1);
  expect(lines).toHaveLength(4);
  expect(lines.every((line) => line.length < 50)).toBe(true);
  expect(lines[3]).toBe('Latest reports: 1 delivered.');
  expect(second.startsWith('\u001b[4F\u001b[J')).toBe(true);
  expect(second).toContain('Latest reports: 1 delivered, 1 expired.');
  expect(rest[0]).toBe('\u001b[4F\u001b[J');
  expect(rest.join('')).toMatch(/not delivered/);
});
