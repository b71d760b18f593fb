import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { NO_SUPPRESSIONS } from '../../src/plan/suppression.ts';
import type { Figures } from '../../src/send/progress.ts';
import { createLists } from '../../src/send/start.ts';
import { until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/** 12:00 in London, 07:00 in New York, 01:00 in Auckland. */
const NOON = Date.parse('2026-11-23T12:00:00Z');
const [LONDON, NEW_YORK, AUCKLAND] = ['+442079460000', '+12125550123', '+6493001234'] as const;

function project(send: string, rows: readonly string[]): TestProject {
  return createProject({
    'handbill.yaml': 'suppressions: outs.csv\n',
    'hello/campaign.yaml': `name: hello
channel: sms
from: Riverside
template: { text: Hi }
recipients: people.csv
send: ${send}
`,
    'hello/people.csv': `msisdn\n${rows.join('\n')}\n`,
    'outs.csv': 'msisdn\n',
  });
}

/** Sends, and waits as long as there is something to wait for; `meanwhile` happens in each wait. */
function waiting(here: TestProject, meanwhile: (nowMs: number) => void, options: Partial<SendOptions> = {}) {
  let nowMs = NOON;
  return send('hello', {
    cwd: here.root,
    env: {},
    now: () => nowMs,
    random: () => 0,
    wait: true,
    timers: {
      sleep: async (ms) => {
        meanwhile(nowMs);
        nowMs += ms;
      },
    },
    ...options,
  });
}

const WINDOW = '{ window: { from: 09:00, to: 20:00 }, concurrency: 1 }';

it('a recipient who comes onto a list while a start waits for a window is not sent to when it opens', async () => {
  using here = project(WINDOW, [LONDON, NEW_YORK, AUCKLAND]);
  const { report, exit } = await waiting(here, () => here.write('outs.csv', `msisdn\n${AUCKLAND}\n`));
  expect({ exit, state: report.state }).toEqual({ exit: 0, state: 'finished' });
  expect(report).toMatchObject({ totals: { accepted: 2 }, reasons: { skipped: { suppressed: 1 } } });
});

it('a recipient who comes onto a list while a canary pauses is not sent to behind it', async () => {
  using here = project('{ canary: { steps: [1], pause: 2s }, concurrency: 1 }', [LONDON, NEW_YORK, AUCKLAND]);
  let figures: Readonly<Figures> | null = null;
  let later = 0;
  const sent = send('hello', {
    cwd: here.root,
    env: {},
    now: () => Date.now() + later,
    random: () => 0,
    onEvent(event) {
      if (event.kind === 'sending') figures = event.figures;
    },
  });
  await until('the pause', () => figures?.waits != null);
  later = 60_000;
  here.write('outs.csv', `msisdn\n${NEW_YORK}\n`);
  const { report } = await sent;
  expect(report).toMatchObject({ state: 'finished', totals: { accepted: 2 }, reasons: { skipped: { suppressed: 1 } } });
});

it('a list that cannot be read any more halts a start that has sent, and says where', async () => {
  using here = project(WINDOW, [LONDON, NEW_YORK]);
  const { report, exit, posted } = await waiting(here, () => here.write('outs.csv', 'msisdn\nnobody\n'));
  expect({ exit, posted, state: report.state }).toEqual({ exit: 5, posted: 1, state: 'halted' });
  expect(report.halt).toMatchObject({
    rule: 'input-changed',
    message: 'outs.csv:2 cannot be read any more (invalid-address).',
  });
  here.write('outs.csv', 'msisdn\n');
  const later = { now: () => NOON + 3 * 3_600_000 };
  expect(await waiting(here, () => undefined, later)).toMatchObject({ exit: 0, report: { state: 'finished' } });
});

it('a list that cannot be read any more refuses a start that has not sent yet', async () => {
  using here = project(WINDOW, [NEW_YORK]);
  const sent = waiting(here, () => here.write('outs.csv', 'msisdn\nnobody\n'));
  await expect(sent).rejects.toMatchObject({ exit: 2, code: 'invalid-address' });
});

it('recipients that are changed while a start waits halt it, for it has sent', async () => {
  using here = project(WINDOW, [LONDON, NEW_YORK]);
  const { report, exit } = await waiting(here, () => here.write('hello/people.csv', `msisdn\n${LONDON}\n`));
  expect({ exit, halt: report.halt?.rule }).toEqual({ exit: 5, halt: 'input-changed' });
});

it('a recipient who comes onto a list while the question waits is not sent to', async () => {
  using here = project('{ concurrency: 1 }', [LONDON, NEW_YORK]);
  here.write(
    'handbill.yaml',
    'suppressions: outs.csv\nenvironments: { test: { baseUrl: "http://127.0.0.1:9", apiKey: { env: KEY } } }\n',
  );
  let nowMs = NOON;
  const { report } = await send('hello', {
    cwd: here.root,
    env: { KEY: 'a-key-of-nobody' },
    environment: 'test',
    now: () => nowMs,
    random: () => 0,
    confirm: async () => {
      nowMs += 60_000;
      here.write('outs.csv', `msisdn\n${LONDON}\n${NEW_YORK}\n`);
      return true;
    },
  });
  expect(report.reasons).toEqual({ skipped: { suppressed: 2 } });
});

describe('while requests go out', () => {
  const ROWS = Array.from({ length: 40 }, (_, i) => `+4420794600${String(i).padStart(2, '0')}`);
  const LATER = `msisdn\n${ROWS.slice(20).join('\n')}\n`;

  /** Sends 20 a second, and looks at the lists all the time; `meanwhile` happens after the third request. */
  async function sending(here: TestProject, meanwhile: () => void, options: Partial<SendOptions> = {}) {
    let figures: Readonly<Figures> | null = null;
    const sent = send('hello', {
      cwd: here.root,
      env: {},
      now: Date.now,
      random: () => 0,
      lookMs: 15,
      onEvent(event) {
        if (event.kind === 'sending') figures = event.figures;
      },
      ...options,
    });
    await until('three requests', () => (figures?.posted ?? 0) >= 3);
    meanwhile();
    return await sent;
  }
  const slowly = () => project('{ concurrency: 1, rate: 20/s }', ROWS);

  it.each<[how: string, write: (here: TestProject) => void]>([
    ['written', (here) => here.write('outs.csv', LATER)],
    [
      'replaced',
      (here) => {
        here.write('new.csv', LATER);
        renameSync(here.path('new.csv'), here.path('outs.csv'));
      },
    ],
  ])('a list that is %s is read again, and a recipient in it is not sent to', async (_, write) => {
    using here = slowly();
    const { report, exit, posted } = await sending(here, () => write(here));
    expect({ exit, posted, state: report.state }).toEqual({ exit: 0, posted: 20, state: 'finished' });
    expect(report.reasons).toEqual({ skipped: { suppressed: 20 } });
  });

  it('a list that cannot be read any more halts the run', async () => {
    using here = slowly();
    const { report, exit } = await sending(here, () => here.write('outs.csv', 'msisdn\nnobody\n'));
    expect({ exit, halt: report.halt?.rule }).toEqual({ exit: 5, halt: 'input-changed' });
    expect(report.totals.pending).toBeGreaterThan(20);
  });

  it('a list that is being written is read when it rests', async () => {
    const stamps = ['a', 'b', 'c', 'c', 'c', 'd', 'd'];
    const ended = new AbortController();
    const read: string[] = [];
    let looks = 0;
    const again = {
      readAtMs: NOON,
      read: async () => {
        read.push(`${looks}: ${stamps[looks - 1]}`);
        return NO_SUPPRESSIONS;
      },
      watch: { first: 'a', everyMs: 10_000, stamp: async () => stamps[looks++] ?? 'd' },
    };
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      slept.push(ms);
      if (slept.length > stamps.length) ended.abort();
    };
    await createLists(NO_SUPPRESSIONS, again, () => NOON, { sleep }).watch(ended.signal);
    expect(read).toEqual(['4: c', '7: d']);
    expect(new Set(slept)).toEqual(new Set([10_000]));
  });
});

it('are read again after a wait also where the clock was set back meanwhile', async () => {
  let reads = 0;
  let nowMs = NOON;
  const read = async () => {
    reads += 1;
    return NO_SUPPRESSIONS;
  };
  const lists = createLists(NO_SUPPRESSIONS, { readAtMs: NOON, read }, () => nowMs);
  await lists.renew();
  expect(reads).toBe(0);
  nowMs = NOON - 60_000;
  await lists.renew();
  expect(reads).toBe(1);
});
