import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Reply } from '../../src/model.ts';
import { createIdleJoiner, type IdleJoiner } from '../../src/operations/listen.ts';
import { until } from '../helpers/cli.ts';
import { replyOf } from '../helpers/events.ts';
import { givenRun, open, scratchPath } from '../ledger/scratch.ts';
import { claimOf, keyOf, loadRow, NOON, resultOf } from '../ledger/values.ts';

const CONTACT = 'c-1';

function sent(): Ledger {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, [loadRow(0, { key: CONTACT, to: CONTACT })]);
  ledger.commit(run, [], [{ ...claimOf(0), to: CONTACT, key: CONTACT }], NOON);
  ledger.commit(run, [resultOf(0)], [], NOON);
  return ledger;
}

const stop = (): Reply =>
  replyOf({ messageId: 'id-0', from: keyOf(1), text: 'STOP', meaning: 'opt-out', atMs: NOON + 1000 });

const FACTS = { nowMs: NOON + 2000, source: 'webhook', environment: 'sandbox' };
const isJoined = (ledger: Ledger) => [...ledger.events.replies()].flat().every(({ answers }) => answers !== null);

function joinerOf(ledger: Ledger, idleMs: number, mostMs = 60_000): { joiner: IdleJoiner; said: string[] } {
  const said: string[] = [];
  const onSuppressed = (addresses: readonly string[]) => said.push(...addresses);
  const log = (line: string) => said.push(line);
  const joiner = createIdleJoiner(ledger, {
    now: () => NOON + 3000,
    startLifts: false,
    stopEnds: 'everything',
    onSuppressed,
    log,
    idleMs,
    mostMs,
  });
  return { joiner, said };
}

test('messages are looked for once nothing more comes in, and contacts that opted out are told of', async () => {
  const ledger = sent();
  const { joiner, said } = joinerOf(ledger, 20);
  ledger.events.record([stop()], FACTS);
  joiner.noticed();
  expect(isJoined(ledger)).toBe(false);
  await until('the message', () => isJoined(ledger));
  await until('a word', () => said.length > 0);
  expect(said).toEqual([CONTACT]);
  await joiner.close();
});

test('what an earlier process left is looked for without another reply', async () => {
  const ledger = sent();
  ledger.events.record([stop()], FACTS);
  const { joiner } = joinerOf(ledger, 1);
  await until('the message', () => isJoined(ledger));
  await joiner.close();
});

test('replies that never cease do not keep it from being done', async () => {
  const ledger = sent();
  const { joiner } = joinerOf(ledger, 1_000_000, 30);
  ledger.events.record([stop()], FACTS);
  joiner.noticed();
  await until('the message', () => {
    joiner.noticed();
    return isJoined(ledger);
  });
  await joiner.close();
});

test('nothing is done after it was closed', async () => {
  const ledger = sent();
  const { joiner, said } = joinerOf(ledger, 1);
  ledger.events.record([stop()], FACTS);
  joiner.noticed();
  await joiner.close();
  joiner.noticed();
  await sleep(20);
  expect([isJoined(ledger), said]).toEqual([false, []]);
});

test('a ledger that fails is told of, and tried again with the next reply', async () => {
  const ledger = sent();
  let fails = true;
  const events: Ledger['events'] = {
    ...ledger.events,
    *joinReplies(facts) {
      if (fails) throw new Error('no disk');
      yield* ledger.events.joinReplies(facts);
    },
  };
  const said: string[] = [];
  const facts = {
    now: () => NOON + 3000,
    startLifts: false,
    stopEnds: 'everything' as const,
    onSuppressed: () => undefined,
    idleMs: 1,
  };
  const joiner = createIdleJoiner({ events }, { ...facts, log: (line) => said.push(line) });
  ledger.events.record([stop()], FACTS);
  joiner.noticed();
  await until('a word', () => said.length > 0);
  expect(said).toEqual(['not looked for what replies answer: no disk']);
  fails = false;
  joiner.noticed();
  await until('the message', () => isJoined(ledger));
  await joiner.close();
});
