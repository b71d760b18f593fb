import { expect, it } from 'vitest';
import { type SendOptions, send } from '../../src/commands/send.ts';
import type { Figures } from '../../src/run/progress.ts';
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

it('whoever comes onto a list while a start waits for a window is not sent to when it opens', async () => {
  using here = project(WINDOW, [LONDON, NEW_YORK, AUCKLAND]);
  const { report, exit } = await waiting(here, () => here.write('outs.csv', `msisdn\n${AUCKLAND}\n`));
  expect({ exit, state: report.state }).toEqual({ exit: 0, state: 'finished' });
  expect(report).toMatchObject({ totals: { accepted: 2 }, reasons: { skipped: { suppressed: 1 } } });
});

it('whoever comes onto a list while a canary pauses is not sent to behind it', async () => {
  using here = project('{ canary: { steps: [1], pause: 2s }, concurrency: 1 }', [LONDON, NEW_YORK, AUCKLAND]);
  let figures: Readonly<Figures> | null = null;
  let later = 0;
  const sent = send('hello', {
    cwd: here.root,
    env: {},
    now: () => Date.now() + later,
    random: () => 0,
    onStart: (now) => {
      figures = now;
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

it('whoever comes onto a list while somebody thinks about the question is not sent to', async () => {
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
