import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from './options.ts';

const NAMES = ['send', 'rate', 'help'];

describe('a command line of the bench', () => {
  it('measures everything in its whole size when it says nothing', () => {
    expect(readOptions([], {}, NAMES)).toEqual({
      wanted: NAMES,
      json: null,
      merge: false,
      profile: null,
      sizes: { rows: 1_000_000, messages: 200_000 },
      seconds: 60,
    });
  });

  it('counts more than the environment', () => {
    const env = { HANDBILL_BENCH_ROWS: '10', HANDBILL_BENCH_MESSAGES: '20' };
    expect(readOptions(['--rows', '30', '--only', 'send,help'], env, NAMES)).toMatchObject({
      wanted: ['send', 'help'],
      sizes: { rows: 30, messages: 20 },
    });
  });

  it.each([
    { args: ['--only', 'wrongname'], says: "There is no measurement 'wrongname'. There are: send, rate, help." },
    { args: ['--only', 'send,snd,hlp'], says: "There is no measurement 'snd', 'hlp'. There are: send, rate, help." },
    { args: ['--only', ''], says: "There is no measurement ''. There are: send, rate, help." },
    { args: ['--rows', 'many'], says: '--rows: not a whole number above 0: many' },
    { args: ['--seconds', '0'], says: '--seconds: not a whole number above 0: 0' },
    { args: ['--row', '1'], says: "Unknown option '--row'" },
  ])('is refused: $args', ({ args, says }) => {
    expect(() => readOptions(args, {}, NAMES)).toThrow(UsageError);
    expect(() => readOptions(args, {}, NAMES)).toThrow(says);
  });
});

it('that cannot be run ends with a sentence and status 2, before anything is measured', () => {
  const script = join(import.meta.dirname, 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--only', 'wrongname'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^There is no measurement 'wrongname'\. There are: send, peers, .+\.\n$/);
});
