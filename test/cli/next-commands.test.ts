import { expect, test } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';
import { HELLO } from './run-handbill.ts';

/** Commands that work on a ledger, as a text names them with an argument or alone on a line. */
const NAMED = /handbill (?:send|report|doubt (?:list|resolve)|runs close|replies|resume|plan|approve)[^\n`]*/g;

test('each printed command names the ledger that the present one was given', async () => {
  await using api = await startApi(() => ({ status: 500 }));
  using project = createProject({
    ...HELLO,
    'handbill.yaml': `environments:\n  live: { baseUrl: "${api.url}", apiKey: { env: KEY } }\n`,
  });
  const env = { KEY: 'key-of-a-test', HANDBILL_ENV: 'live' };
  const run = async (...args: readonly string[]) => {
    const { out, err } = await handbillHere(project.root, [...args, '--ledger', 'other place.db'], { env });
    return `${out}${err}`;
  };
  for (const args of [
    ['send', 'hello', '--yes'],
    ['report'],
    ['report', '--format', 'brief'],
    ['doubt', 'list'],
    ['plan', 'hello', '-o', 'my plan.json'],
    ['pause', '--reason', 'wrong'],
    ['report'],
  ]) {
    const text = await run(...args);
    const commands = text.match(NAMED) ?? [];
    if (args[0] !== 'pause') expect(commands.length, text).toBeGreaterThan(0);
    for (const command of commands) expect(command, text).toContain(`--ledger 'other place.db'`);
  }
});
