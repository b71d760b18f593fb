import { expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createReference } from '../../src/plan/expand.ts';
import { deliveryOf } from '../helpers/events.ts';
import { createProject } from '../helpers/project.ts';
import { accepting, startRawServer } from '../helpers/raw-server.ts';

const NINE = Date.UTC(2026, 10, 21, 9);
const ANN = '+447700900123';
const BOB = '+447700900124';
const identity = { environment: 'live', campaign: 'hello', occurrence: 'once' };

const REPORT = deliveryOf({
  reference: createReference(identity, 'sms')(BOB),
  ...{ messageId: 'm-2', address: BOB, word: 'delivered', atMs: NINE },
});

/** Ann is accepted; Bob is claimed by a process that was killed then, and no other recipient is left. */
async function given() {
  const server = await startRawServer({ behaviour: accepting() });
  const project = createProject({
    'handbill.yaml': `environments:\n  live: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: KEY } }\n`,
    'hello/campaign.yaml': 'name: hello\nchannel: sms\nfrom: A\ntemplate: { text: Hi }\nrecipients: people.csv\n',
    'hello/people.csv': `msisdn\n${ANN}\n${BOB}\n`,
  });
  const options: SendOptions = {
    cwd: project.root,
    env: { KEY: 'key-of-a-test' },
    now: () => NINE,
    environment: 'live',
    confirm: async () => true,
    concurrency: 1,
  };
  await send('hello', { ...options, limit: 1 });
  const inLedger = (work: (ledger: Ledger, run: RunRecord) => void): void => {
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: NINE });
    const run = ledger.findRun(identity);
    if (run !== null) work(ledger, run);
    ledger.close();
  };
  inLedger((ledger, run) => {
    ledger.commit(ledger.start(run, NINE).run, [], [{ row: 1, step: 0, to: BOB, key: BOB }], NINE);
  });
  const close = async (): Promise<void> => {
    await server.close();
    project[Symbol.dispose]();
  };
  return { inLedger, sendAgain: () => send('hello', options), [Symbol.asyncDispose]: close };
}

it('a report that came before a kill resolves the rows that it left without an outcome, although no recipient is left to send to (K1)', async () => {
  await using run = await given();
  run.inLedger((ledger) => ledger.events.record([REPORT], { nowMs: NINE, source: 'webhook', environment: 'live' }));
  const { started, exit, posted, report } = await run.sendAgain();
  // It starts, because only a start knows that no other process is at it; nothing is posted.
  expect({ started, exit, posted }).toEqual({ started: true, exit: 0, posted: 0 });
  expect(report.totals).toMatchObject({ accepted: 2, inDoubt: 0 });
});

it('what was held when the process that receives was killed settles doubts at the next send (K2)', async () => {
  await using run = await given();
  run.inLedger((ledger, record) => {
    ledger.start(record, NINE);
    ledger.events.record([REPORT], { nowMs: NINE, source: 'webhook', environment: 'live' });
  });
  const { started, report } = await run.sendAgain();
  expect(started).toBe(false);
  expect(report.totals).toMatchObject({ accepted: 2, inDoubt: 0 });
});

it('stays in doubt where no report is about it', async () => {
  await using run = await given();
  const other = { ...REPORT, reference: createReference(identity, 'sms')(ANN), messageId: 'm-1' };
  run.inLedger((ledger) => ledger.events.record([other], { nowMs: NINE, source: 'webhook', environment: 'live' }));
  const { exit, report } = await run.sendAgain();
  expect(exit).toBe(4);
  expect(report.totals).toMatchObject({ accepted: 1, inDoubt: 1 });
});
