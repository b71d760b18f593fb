import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, REASONS } from '../../src/http/classify.ts';
import type { Phase } from '../../src/model.ts';
import { examples } from '../helpers/quick.ts';
import { ANN, answered, attempt, judge, NOW, THREE } from './answers.ts';
import { wireOf } from './wire.ts';

describe('whatever comes', () => {
  const KEYS = 'id to status error recipients messages results data items rejected code'.split(' ');
  const scalar = fc.oneof(
    fc.constantFrom(...THREE.flatMap(({ to, reference }) => [to, to.slice(1), reference])),
    fc.constantFrom('rejected', 'channel-not-supported', 'accepted', '', null, true, false, 0, 404, 447700900101),
    fc.string({ maxLength: 5 }),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 4 }),
    ),
  }));

  it('has exactly one verdict for each recipient, and none that lets a taken request out again', () => {
    const phases = fc.constantFrom<Phase>('P1', 'P2', 'P3', 'P4');
    const body = fc.oneof({ weight: 4, arbitrary: tree.map((t) => JSON.stringify(t)) }, fc.json(), fc.string());
    const facts = fc.record({
      phase: phases,
      status: fc.constantFrom(200, 202, 207, 302, 404, 413, 422, 429, 500),
      body,
    });
    const count = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(facts, count, fc.boolean(), (given, n, firstAnswer) => {
        const isEarly = given.phase === 'P1' || given.phase === 'P2';
        const seen = isEarly ? { ...given, status: null, error: { code: 'ECONNRESET', message: '' } } : given;
        const recipients = THREE.slice(0, n);
        const verdicts = judge(seen, { recipients, firstAnswer });
        expect(verdicts).toHaveLength(n);
        for (const { outcome, reason, again, split, error } of verdicts) {
          expect(reason === null || REASONS.includes(reason)).toBe(true);
          expect(Buffer.byteLength(error ?? '')).toBeLessThanOrEqual(2_048);
          if (split) expect([outcome, again, n > 1]).toEqual(['pending', false, true]);
          if (seen.phase === 'P2') expect(outcome).toBe('in-doubt');
          if (seen.status !== null && seen.status < 300) {
            expect([again, split]).toEqual([false, false]);
            expect(['accepted', 'rejected', 'in-doubt']).toContain(outcome);
          }
        }
        // Of a success, an entry may name the recipient.
        if (n === 1 && !(seen.status !== null && seen.status < 300)) {
          const context = { wire: wireOf(), firstAnswer, neverAccepted: firstAnswer, nowMs: NOW, stopping: false };
          expect(verdicts[0]).toEqual(classify(attempt(seen), context));
        }
      }),
      { numRuns: examples(3_000) },
    );
  });

  /** An entry as an API could write it: its recipient, how that is spelt, and whether it refuses. */
  const entries = fc.array(
    fc.record({
      who: fc.nat(2),
      spelling: fc.constantFrom<(to: string) => object>(
        (to) => ({ to }),
        (to) => ({ msisdn: to.slice(1) }),
        (to) => ({ destination: `00${to.slice(1)}` }),
        (to) => ({ phone_number: Number(to) }),
        (to) => ({ recipient: { msisdn: to } }),
        (to) => ({ metaData: { handbill: THREE.find((one) => one.to === to)?.reference } }),
      ),
      refusal: fc.option(
        fc.constantFrom<object>(
          { error: { code: 1 } },
          { errors: ['x'] },
          { status: 'REJECTED' },
          { status: { groupName: 'Rejected' } },
          { success: false },
          { state: 'not_sent', error: { code: 'channel-not-supported' } },
        ),
      ),
    }),
    { maxLength: 6 },
  );
  const place = fc.constantFrom<(list: object[]) => object>(
    (list) => ({ id: 'm', recipients: list }),
    (list) => ({ messages: list }),
    (list) => ({ data: { messages: list } }),
    (list) => ({ data: list, recipients: THREE.map(({ to }) => ({ to })) }),
  );

  it('accepts no recipient that an entry refuses or no entry names, and rejects no recipient that an entry took', () => {
    let accepted = 0;
    let rejected = 0;
    fc.assert(
      fc.property(entries, place, (list, put) => {
        const written = list.map(({ who, spelling, refusal }) => ({ ...spelling(THREE[who]?.to ?? ''), ...refusal }));
        const verdicts = answered(put(written));
        THREE.forEach((_, i) => {
          const own = list.filter(({ who }) => who === i);
          const { outcome } = verdicts[i] ?? { outcome: 'none' };
          if (outcome === 'accepted') {
            accepted += 1;
            expect(own.some(({ refusal }) => refusal !== null)).toBe(false);
            expect(own.length).toBeGreaterThan(0);
          }
          if (outcome === 'rejected') {
            rejected += 1;
            expect(own.length).toBeGreaterThan(0);
            expect(own.every(({ refusal }) => refusal !== null)).toBe(true);
          }
        });
      }),
      { numRuns: examples(2_000) },
    );
    expect(accepted).toBeGreaterThan(examples(100));
    expect(rejected).toBeGreaterThan(examples(100));
  });

  it.each([
    ['deep', `{"recipients":[{"to":"${ANN.to}","error":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}`],
    ['deep as a whole', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['long', JSON.stringify({ recipients: Array.from({ length: 2_000 }, () => ({ to: '1'.repeat(20) })) })],
    ['full of quotes that never end', `{"a":"${'\\"'.repeat(30_000)}12345678901234567890`],
    ['full of brackets', JSON.stringify({ recipients: ['('.repeat(60_000)] })],
    ['full of digits', JSON.stringify({ recipients: [`1${'(0'.repeat(30_000)}`] })],
  ])('takes little time for an answer that is %s', (_label, body) => {
    const before = process.cpuUsage();
    expect(judge({ body })).toHaveLength(3);
    expect(judge({ body, status: 400 })).toHaveLength(3);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
