import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { Recorded } from '../../src/ledger/records.ts';
import type { DeliveryReport, WebhookEvent } from '../../src/model.ts';
import { recorderOf } from '../../src/operations/listen.ts';
import { deliveryOf, replyOf } from '../helpers/events.ts';

const NOW = Date.UTC(2026, 10, 21, 10);

let folder = '';
let ledger: Ledger;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-record-'));
  ledger = openLedger(join(folder, 'ledger.db'), { mode: 'write', nowMs: NOW });
});
afterEach(() => {
  ledger.close();
  rmSync(folder, { recursive: true });
});

const report = (changes: Partial<DeliveryReport>): DeliveryReport =>
  deliveryOf({ messageId: 'm1', word: 'delivered', atMs: NOW, ...changes });

const STOP = replyOf({ from: '+447700900123', text: 'STOP', meaning: 'opt-out' });

/* What a table does not take cannot come from the reader of events as it is: this is about the bug that makes one. */
test.each<[label: string, poison: WebhookEvent]>([
  ['a table does not take', report({ atMs: 1.5 })],
  ['no statement takes', report({ word: undefined as unknown as null })],
])('an event that %s is kept unread, and the others of its group are held', async (_label, poison) => {
  const lines: string[] = [];
  const recorded: Recorded[] = [];
  const recorder = recorderOf(ledger, {
    now: () => NOW,
    startLifts: false,
    stopEnds: 'everything' as const,
    isAddress: () => true,
    onRecorded: (one) => recorded.push(one),
    log: (line) => lines.push(line),
  });
  let isOver = false;
  void recorder.failed.then(() => (isOver = true));
  for (let i = 0; i < 2; i++) await recorder.record([report({ messageId: 'm0' }), poison, STOP], 'sandbox');
  expect(ledger.events.counts()).toEqual({ reports: 1, replies: 1, unread: 1 });
  expect(ledger.isSuppressed('+447700900123', NOW)).toBe(true);
  expect(recorded.reduce((sum, one) => sum + one.reports + one.replies + one.unread, 0)).toBe(3);
  expect(lines.join()).toMatch(/^an event is kept unread, by a bug: \w+/);
  expect(lines.join()).not.toMatch(/m1|7700900123/);
  await Promise.resolve();
  expect(isOver).toBe(false);
});

test('doubts that cannot be resolved, by a bug, do not end what is received', () => {
  const lines: string[] = [];
  const broken = {
    ...ledger.events,
    inDoubt: (): never => {
      throw new TypeError(STOP.from);
    },
  };
  const facts = {
    now: () => NOW,
    startLifts: false,
    stopEnds: 'everything' as const,
    isAddress: () => true,
    onRecorded: () => undefined,
  };
  const recorder = recorderOf({ ...ledger, events: broken }, { ...facts, log: (line) => lines.push(line) });
  void recorder.record([report({})], 'sandbox');
  recorder.finish();
  void recorder.record([STOP], 'sandbox');
  expect(ledger.events.counts()).toEqual({ reports: 1, replies: 1, unread: 0 });
  expect(lines).toEqual(['doubts are not resolved, by a bug: TypeError']);
});
