import { describe, expect, it } from 'vitest';
import type { DeliveryReport, Reply, WebhookEvent } from '../../src/model.ts';
import { deliveryOf, replyOf } from '../helpers/events.ts';
import { open, scratchPath } from './scratch.ts';
import { NOON } from './values.ts';

const MINUTE = 60_000;

const report = (changes: Partial<DeliveryReport> = {}): DeliveryReport =>
  deliveryOf({ messageId: 'm-1', address: '+447700900001', word: 'DELIVRD', atMs: NOON, ...changes });

const reply = (text: string, meaning: Reply['meaning'], changes: Partial<Reply> = {}): Reply =>
  replyOf({ from: '+447700900001', to: 'Riverside', text, meaning, atMs: NOON, ...changes });

const FACTS = { nowMs: NOON, source: 'webhook', environment: 'sandbox' };

describe('events', () => {
  it('are held once, however often they come', () => {
    const { events } = open(scratchPath());
    const group: WebhookEvent[] = [report(), reply('yes', 'answer'), { kind: 'unread', body: '{}' }];
    expect(events.record([...group, ...group], FACTS)).toMatchObject({ reports: 1, replies: 1, unread: 1, known: 3 });
    expect(events.record(group, { ...FACTS, nowMs: NOON + MINUTE, source: 'file' })).toMatchObject({ known: 3 });
    expect(events.counts()).toEqual({ reports: 1, replies: 1, unread: 1 });
    expect(events.reportsNaming({ reference: null, messageId: 'm-1' })).toMatchObject([{ receivedAtMs: NOON }]);
  });

  it('are held once for the environments that one sender reports for, and once for each sender', () => {
    const { events } = open(scratchPath());
    const group: WebhookEvent[] = [report(), reply('yes', 'answer')];
    const into = (environment: string, alsoIn: readonly string[]) => {
      const { reports, replies, known } = events.record(group, { ...FACTS, environment, alsoIn });
      return [reports, replies, known];
    };
    expect(into('staging', ['sandbox', 'production'])).toEqual([1, 1, 0]);
    expect(into('production', ['sandbox', 'staging'])).toEqual([0, 0, 2]);
    expect(into('staging', ['sandbox', 'production'])).toEqual([0, 0, 2]);
    // Two accounts may say the same of messages that have the same id.
    expect(into('live', ['sandbox'])).toEqual([1, 1, 0]);
    expect(into('production', [])).toEqual([1, 1, 0]);
  });

  it('are found by either id, and once by both', () => {
    const { events } = open(scratchPath());
    events.record([report({ reference: 'r-1' }), report({ messageId: null, reference: 'r-1', state: 'sent' })], FACTS);
    const states = (reference: string | null, messageId: string | null) =>
      events.reportsNaming({ reference, messageId }).map(({ state }) => state);
    expect(states('r-1', 'm-1')).toEqual(['delivered', 'sent']);
    expect(states(null, 'm-1')).toEqual(['delivered']);
    expect(states('r-2', 'm-2')).toEqual([]);
    expect(states(null, null)).toEqual([]);
  });

  it('outlast the process', () => {
    const path = scratchPath();
    const first = open(path);
    first.events.record([report()], FACTS);
    first.close();
    expect(open(path).events.counts().reports).toBe(1);
  });
});

describe('a reply that opts out', () => {
  it('suppresses its sender, at once and permanently', () => {
    const ledger = open(scratchPath());
    ledger.suppress('+447700900001', { reason: null, untilMs: NOON + MINUTE, source: 'user', nowMs: NOON });
    expect(ledger.events.record([reply('STOP', 'opt-out')], FACTS).suppressed).toEqual(['+447700900001']);
    expect(ledger.isSuppressed('+447700900001', NOON + 365 * 24 * 60 * MINUTE)).toBe(true);
    expect([...ledger.suppressions()]).toMatchObject([{ source: 'user', untilMs: null }]);
    expect(ledger.events.record([reply('STOP', 'opt-out')], FACTS).suppressed).toEqual([]);
  });

  it('is heard from the provider too', () => {
    const ledger = open(scratchPath());
    ledger.events.record([report({ state: 'rejected', cause: 'opted-out' })], FACTS);
    expect([...ledger.suppressions()]).toMatchObject([{ address: '+447700900001', source: 'report' }]);
  });

  const stop = reply('STOP', 'opt-out');
  const start = reply('START', 'opt-in', { atMs: NOON + MINUTE });
  const again = reply('STOP', 'opt-out', { atMs: NOON + 2 * MINUTE });

  it.each([
    ['START never lifts it by itself', [stop, start], false, true],
    ['START lifts it where the project says so', [stop, start], true, false],
    ['the same in another order', [start, stop], true, false],
    ['the last word counts', [start, again, stop], true, true],
    ['both at the same time', [stop, { ...start, atMs: NOON }], true, true],
  ])('%s', (_, events, startLifts, isSuppressed) => {
    const ledger = open(scratchPath());
    const facts = { ...FACTS, nowMs: NOON + 3 * MINUTE, startLifts };
    for (const event of events) ledger.events.record([event], facts);
    expect(ledger.isSuppressed('+447700900001', NOON)).toBe(isSuppressed);
  });

  const complaint = report({ state: 'rejected', cause: 'opted-out' });
  it.each([
    ['the provider reports it, before the reply', [complaint, stop, start]],
    ['the provider reports it, after the reply', [stop, complaint, start]],
    ['a person complains, after the reply', [stop, 'user', start]],
    ['a person complains, before the reply', ['user', stop, start]],
  ] as const)('is not lifted by START where %s', (_, events) => {
    const ledger = open(scratchPath());
    for (const event of events) {
      if (event !== 'user') ledger.events.record([event], { ...FACTS, nowMs: NOON + 10 * MINUTE, startLifts: true });
      else ledger.suppress('+447700900001', { reason: 'complaint', untilMs: null, source: 'user', nowMs: NOON });
    }
    expect(ledger.isSuppressed('+447700900001', NOON)).toBe(true);
  });

  it('counts again after START where nothing tells it from the first, because one of the two is right', () => {
    const ledger = open(scratchPath());
    const timeless = { ...stop, atMs: null };
    const words = [timeless, { ...start, atMs: null }, timeless];
    for (const [at, word] of words.entries()) {
      ledger.events.record([word], {
        nowMs: NOON + at * MINUTE,
        source: 'webhook',
        environment: 'sandbox',
        startLifts: true,
      });
    }
    expect(ledger.isSuppressed('+447700900001', NOON)).toBe(true);
    expect(ledger.events.counts().replies).toBe(2);
  });

  it('counts after a START whose time is ahead', () => {
    const ledger = open(scratchPath());
    const words = [stop, { ...start, atMs: NOON + 1_000 * MINUTE }, again];
    for (const [at, word] of words.entries()) {
      ledger.events.record([word], {
        nowMs: NOON + at * MINUTE,
        source: 'webhook',
        environment: 'sandbox',
        startLifts: true,
      });
    }
    expect(ledger.isSuppressed('+447700900001', NOON)).toBe(true);
  });

  it('is not lifted by START where a person put the entry there', () => {
    const ledger = open(scratchPath());
    ledger.suppress('+447700900001', { reason: 'complaint', untilMs: null, source: 'user', nowMs: NOON });
    ledger.events.record([stop, start], { ...FACTS, nowMs: NOON + 10 * MINUTE, startLifts: true });
    expect(ledger.isSuppressed('+447700900001', NOON)).toBe(true);
  });
});
