import { describe, expect, it, vi } from 'vitest';
import { displayWidth } from '../../src/util/table.ts';
import { until } from '../helpers/cli.ts';
import { HIDES_CURSOR, hasColour, linesOf, onTerminal } from './on-terminal.ts';

// Each test is a process on a terminal of its own, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ASK = new URL('../fixtures/terminal/ask.ts', import.meta.url).pathname;
const WORK = new URL('../fixtures/terminal/work.ts', import.meta.url).pathname;

describe.concurrent('progress on a terminal', () => {
  it.each<[columns: number, env: Record<string, string>, line: RegExp]>([
    [20, {}, /^\(\d+%\) {2}\d+ s left$/],
    [80, {}, /^Checking {2}[━─]{8,24} {2}[\d.]+ of 30 MB {2}\(\d+%\) {2}\d+ MB\/s {2}\d+ s left$/],
    [200, { NO_COLOR: '1' }, /^Checking {2}[━─]{24} {2}[\d.]+ of 30 MB {2}\(\d+%\) {2}\d+ MB\/s {2}\d+ s left$/],
    [80, { LANG: 'C' }, /^Checking {2}[#-]{8,24} {2}[\d.]+ of 30 MB {2}\(\d+%\) {2}\d+ MB\/s {2}\d+ s left$/],
  ])('%i columns, %j', async (columns, env, line) => {
    const { status, screen } = await (await onTerminal(WORK, ['2200'], { columns, env })).done;
    expect(status, screen).toBe(0);
    const lines = linesOf(screen);
    expect(
      lines.some((one) => line.test(one)),
      screen,
    ).toBe(true);
    for (const one of lines) expect(displayWidth(one), one).toBeLessThan(columns);
    // Five redraws a second at most, of some two seconds; nothing is left of the line, and what was said stays.
    expect(lines.filter((one) => one.includes(' %)')).length).toBeLessThanOrEqual(10);
    expect(screen).not.toContain(HIDES_CURSOR);
    expect(hasColour(screen)).toBe(false);
    expect(lines.filter((one) => one === 'half-way')).toHaveLength(1);
    expect(screen.endsWith('\u001b[2K\u001b[Gdone\r\n')).toBe(true);
  });

  it('follows the window as it becomes narrower', async () => {
    const work = await onTerminal(WORK, ['3500']);
    await until('a line', () => work.screen().includes('Checking  '));
    const before = work.screen().length;
    work.resize(20);
    const { screen } = await work.done;
    const [, ...lines] = linesOf(screen.slice(before)).filter((line) => line.includes('%)'));
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length, line).toBeLessThan(20);
  });

  it.each<[label: string, args: string[], options: { env?: Record<string, string>; shell?: string }]>([
    ['a dumb terminal cannot draw', ['1500'], { env: { TERM: 'dumb' } }],
    ['--quiet', ['1500', 'quiet'], {}],
    ['the screen belongs to a pager', ['1500'], { shell: '| cat' }],
  ])('draws nothing: %s', async (_label, args, options) => {
    const { screen } = await (await onTerminal(WORK, args, options)).done;
    expect(screen.replaceAll('\r', '')).toBe('half-way\ndone\n');
  });

  it('draws nothing where the work is over at once', async () => {
    const { screen } = await (await onTerminal(WORK, ['0'])).done;
    expect(screen.replaceAll('\r', '')).toBe('done\n');
  });
});

describe.concurrent('questions on a terminal', () => {
  async function answer(kind: string, keys: readonly string[], options: Parameters<typeof onTerminal>[2] = {}) {
    const asked = await onTerminal(ASK, [kind], options);
    await until('the question', () => /Email|Name/.test(asked.screen()));
    // The keyboard is read once the question is shown.
    await new Promise((resolve) => setTimeout(resolve, 150));
    for (const key of keys) {
      asked.type(key);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    const { status, screen } = await asked.done;
    const [, said = '', signal = ''] = /answer (.*) signal (.*)\r\n$/.exec(screen) ?? [];
    return { status, screen, said, signal };
  }
  const DUMB = { env: { TERM: 'dumb' } };
  const BARE = { env: { NO_COLOR: '1', LANG: 'C' }, columns: 20 };

  it.each<[kind: string, label: string, keys: string[], said: string, options?: Parameters<typeof onTerminal>[2]]>([
    ['text', 'is asked again until it is right', ['A\r', '\u007f', 'abc\r'], '"abc"'],
    ['text', 'Escape', ['\u001b'], 'null'],
    ['text', 'Ctrl-D behind a word', ['abc', '\u0004'], 'null'],
    ['text', '20 columns', ['abc\r'], '"abc"', BARE],
    ['text', 'for a screen reader', ['A\r', 'abc\r'], '"abc"', { env: { ACCESSIBLE: '1' } }],
    ['default', 'Enter takes what is offered', ['\r'], '"hello"'],
    ['default', 'what is typed is all of the answer', ['abc\r'], '"abc"'],
    ['default', 'blanks are not an answer', ['  \r'], '"hello"'],
    ['default', 'Enter takes what is offered, 20 columns', ['\r'], '"hello"', BARE],
    ['default', 'Enter takes what is offered, where nothing can be drawn', ['\r'], '"hello"', DUMB],
    ['select', 'Enter takes what is offered', ['\r'], '"sms"'],
    ['select', 'Ctrl-D', ['\u0004'], 'null'],
    ['select', 'Ctrl-D, where nothing can be drawn', ['\u0004'], 'null', DUMB],
    ['select', 'the second', ['\u001b[B', '\r'], '"email"'],
    ['select', 'the second, 20 columns', ['\u001b[B', '\r'], '"email"', BARE],
    ['select', 'by number, where nothing can be drawn', ['7\r', '2\r'], '"email"', DUMB],
  ])('%s: %s', async (_kind, _label, keys, said, options) => {
    const answered = await answer(_kind, keys, options);
    expect(answered, answered.screen).toMatchObject({ status: 0, said, signal: 'null' });
    // S21: what is asked is shown, not obeyed.
    expect(answered.screen).not.toContain('\u001b[2J');
    expect(answered.screen).not.toContain(HIDES_CURSOR);
    if (options === BARE) {
      expect(hasColour(answered.screen)).toBe(false);
      expect(linesOf(answered.screen).join('')).toMatch(/^[\x20-\x7e]*$/);
    }
  });

  it.each([
    ['select', {}],
    ['text', {}],
    ['text', DUMB],
  ] as const)('Ctrl-C interrupts the process: %s, %j', async (kind, options) => {
    expect(await answer(kind, ['\u0003'], options)).toMatchObject({ said: 'null', signal: '130' });
  });

  it('does not ask where stdin is not a terminal', async () => {
    const { status, screen } = await (await onTerminal(ASK, ['text'], { shell: '< /dev/null' })).done;
    expect({ status, screen }).toEqual({ status: 0, screen: 'answer null signal null\r\n' });
  });
});
