import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Split } from '../../src/model.ts';
import { type Assignment, createAssigner, uniform } from '../../src/plan/assign.ts';
import { chiSquareTail } from '../../src/report/variants.ts';
import { QUICK } from '../helpers/quick.ts';

const split = (facts: Partial<Split> = {}): Split => ({
  seed: 'hello',
  holdout: 0,
  test: null,
  winner: null,
  decides: null,
  ...facts,
});

const weighted = (...weights: readonly number[]) => weights.map((weight, i) => ({ name: `v${i}`, weight }));

/** One word for an assignment: `0`, `holdout`, `undecided`, `own`. */
const wordOf = (assignment: Assignment): string =>
  assignment.kind === 'variant' ? String(assignment.index) : assignment.kind;

const QUESTIONS = ['holdout', 'test', 'variant'] as const;

/** What keys look like: a number, an address, an id of a customer. */
const KEYS = {
  'E.164 numbers': (i: number) => `+4477${String(i).padStart(8, '0')}`,
  'email addresses': (i: number) => `person.${i}@mail.example.org`,
  'short ids': (i: number) => i.toString(36),
} as const;

describe('uniform', () => {
  // These never change: a change of them moves people between the variants of campaigns that are under way.
  it.each<[(typeof QUESTIONS)[number], seed: string, key: string, bits: number]>([
    ['holdout', 'hello', '+447700900123', 0x3fb882f52c228],
    ['holdout', 'spring-sale-2026', '客户 7', 0x35dd89ca59dfd],
    ['test', 'hello', 'anna@example.com', 0x230788995f7b4],
    ['variant', 'spring-sale-2026', 'c-1', 0x7147c1266006f],
  ])('%s, seed %s, key %s', (question, seed, key, bits) => {
    expect(uniform(question, seed, key) * 2 ** 52).toBe(bits);
  });

  test('is the first 52 bits of SHA-256 over question, seed and key, with NUL between them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...QUESTIONS),
        fc.string(),
        fc.string({ unit: 'grapheme' }),
        (question, seed, key) => {
          const digest = createHash('sha256')
            .update(Buffer.from(`${question}\0${seed}\0${key}`, 'utf8'))
            .digest();
          const bits = digest.readBigUInt64BE() >> 12n;
          expect(BigInt(uniform(question, seed, key) * 2 ** 52)).toBe(bits);
        },
      ),
    );
  });
});

describe('createAssigner', () => {
  // Pinned like the above, for how numbers become variants.
  it.each<[label: string, facts: Partial<Split>, weights: readonly number[], words: string]>([
    ['two alike', {}, [1, 1], '0 1 1 0 1 1 1 0 0 0 0 1'],
    ['three with weights', {}, [5, 3, 2], '0 1 2 0 1 2 1 0 0 0 0 1'],
    ['decimal weights', {}, [0.5, 0.3, 0.2], '0 1 2 0 1 2 1 0 0 0 0 1'],
    ['ten', {}, Array.from({ length: 10 }, () => 1), '4 6 9 3 6 9 7 3 2 4 0 7'],
    ['another seed', { seed: 'spring' }, [1, 1], '0 1 0 0 0 0 0 0 0 1 1 0'],
    ['with a holdout', { holdout: 0.3 }, [1, 1], '0 1 1 0 1 1 1 holdout 0 0 holdout holdout'],
    [
      'with a test',
      { test: 0.4 },
      [1, 1],
      '0 1 undecided undecided 1 1 undecided undecided undecided 0 undecided undecided',
    ],
    ['with a test and its winner', { test: 0.4, winner: 'v1' }, [1, 1], '0 1 1 1 1 1 1 1 1 0 1 1'],
    ['with everything', { holdout: 0.3, test: 0.4, winner: 'v0' }, [1, 1], '0 1 0 0 1 1 0 holdout 0 0 holdout holdout'],
    ['no variants', {}, [], 'own own own own own own own own own own own own'],
    [
      'no variants, with a holdout',
      { holdout: 0.3, test: 0.4 },
      [],
      'own own own own own own own holdout own own holdout holdout',
    ],
  ])('%s', (_label, facts, weights, words) => {
    const assign = createAssigner(weighted(...weights), split(facts));
    const keys = Array.from({ length: 12 }, (_, i) => `+4477009001${String(i).padStart(2, '0')}`);
    expect(keys.map((key) => wordOf(assign(key))).join(' ')).toBe(words);
  });

  it('ends a share before the number that it is', () => {
    const key = '+447700900123';
    const of = (facts: Partial<Split>, ...weights: readonly number[]) =>
      wordOf(createAssigner(weighted(...weights), split(facts))(key));
    const held = uniform('holdout', 'hello', key);
    const tested = uniform('test', 'hello', key);
    const end = uniform('variant', 'hello', key) * 2 ** 52;
    expect(of({ holdout: held }, 1)).toBe('0');
    expect(of({ holdout: held + 2 ** -52 }, 1)).toBe('holdout');
    expect(of({ test: tested }, 1)).toBe('undecided');
    expect(of({ test: tested + 2 ** -52 }, 1)).toBe('0');
    expect(of({}, end, 2 ** 52 - end)).toBe('1');
    expect(of({}, end + 1, 2 ** 52 - end - 1)).toBe('0');
  });

  it('refuses a winner that is not a variant', () => {
    expect(() => createAssigner(weighted(1, 1), split({ test: 0.5, winner: 'C' }))).toThrow('no variant "C"');
  });

  it('gives the same object for the same answer', () => {
    const assign = createAssigner(weighted(1), split());
    expect(assign('a')).toBe(assign('b'));
    expect(Object.isFrozen(assign('a'))).toBe(true);
  });
});

describe('keys are within 0.2% of the weights, a million of them; in a sample of 100,000 chance is three times as large', () => {
  const [count, near] = QUICK ? [100_000, 0.006] : [1_000_000, 0.002];

  it.each(Object.entries(KEYS))('%s', (_label, keyOf) => {
    const weights = [50, 25, 10, 7.5, 4, 2, 1, 0.5];
    const assign = createAssigner(weighted(...weights), split());
    const counts = weights.map(() => 0);
    for (let i = 0; i < count; i++) {
      const assignment = assign(keyOf(i));
      if (assignment.kind === 'variant') counts[assignment.index] = (counts[assignment.index] ?? 0) + 1;
    }
    for (const [index, weight] of weights.entries()) {
      expect(Math.abs((counts[index] ?? 0) / count - weight / 100), `weight ${weight}`).toBeLessThan(near);
    }
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
  });
});

describe('holdout, test and variants', () => {
  const whole = 200_000;
  const numbers = QUESTIONS.map((question) => {
    const own = new Float64Array(whole);
    for (let i = 0; i < whole; i++) own[i] = uniform(question, 'hello', KEYS['E.164 numbers'](i));
    return own;
  });

  it.each<[string, number, number]>([
    ['holdout and test', 0, 1],
    ['holdout and variant', 0, 2],
    ['test and variant', 1, 2],
  ])('%s do not depend on each other', (_label, a, b) => {
    // A table of 10 by 10: if they are independent and even, all fields are alike but for chance.
    const fields = new Float64Array(100);
    for (let i = 0; i < whole; i++) {
      const field = Math.floor((numbers[a]?.[i] ?? 0) * 10) * 10 + Math.floor((numbers[b]?.[i] ?? 0) * 10);
      fields[field] = (fields[field] ?? 0) + 1;
    }
    const statistic = fields.reduce((sum, count) => sum + (count - whole / 100) ** 2 / (whole / 100), 0);
    expect(chiSquareTail(statistic, 99)).toBeGreaterThan(0.001);
    // And not more alike than chance would make them.
    expect(chiSquareTail(statistic, 99)).toBeLessThan(0.999);
  });

  it('takes the shares that were asked for', () => {
    const assign = createAssigner(weighted(1, 1), split({ holdout: 0.1, test: 0.2, winner: 'v1' }));
    const counts = new Map<string, number>();
    for (let i = 0; i < whole; i++) {
      const word = wordOf(assign(KEYS['E.164 numbers'](i)));
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    // 10% are held out; of the rest a fifth is tested, half of it with v0.
    expect((counts.get('holdout') ?? 0) / whole).toBeCloseTo(0.1, 2);
    expect((counts.get('0') ?? 0) / whole).toBeCloseTo(0.09, 2);
    expect((counts.get('1') ?? 0) / whole).toBeCloseTo(0.81, 2);
  });
});

describe('no recipient is moved', () => {
  const key = fc.string({ minLength: 1, maxLength: 40 });
  const weights = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 2, maxLength: 10 });
  const shareOf = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  const scene = fc.record({ key, weights, seed: fc.string(), holdout: shareOf, test: shareOf });

  test('by another order of the list, by rows that are added, or by starting again', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), fc.array(key, { maxLength: 30 }), weights, (keys, added, own) => {
        const facts = split({ holdout: 0.2, test: 0.5 });
        const first = createAssigner(weighted(...own), facts);
        const before = new Map(keys.map((k) => [k, first(k)]));
        const again = createAssigner(weighted(...own), facts);
        const after = new Map([...added, ...keys.toReversed()].map((k) => [k, again(k)]));
        for (const [k, assignment] of before) expect(after.get(k)).toEqual(assignment);
      }),
    );
  });

  test('by a holdout or a test that is added', () => {
    fc.assert(
      fc.property(scene, ({ key: k, weights: own, seed, holdout, test: share }) => {
        const plain = wordOf(createAssigner(weighted(...own), split({ seed }))(k));
        const held = wordOf(createAssigner(weighted(...own), split({ seed, holdout }))(k));
        const tested = wordOf(createAssigner(weighted(...own), split({ seed, test: share }))(k));
        expect(['holdout', plain]).toContain(held);
        expect(['undecided', plain]).toContain(tested);
      }),
    );
  });

  test('by a winner: the tested keep what they have, the others get it', () => {
    fc.assert(
      fc.property(scene, ({ key: k, weights: own, seed, holdout, test: share }) => {
        const before = wordOf(createAssigner(weighted(...own), split({ seed, holdout, test: share }))(k));
        const after = wordOf(createAssigner(weighted(...own), split({ seed, holdout, test: share, winner: 'v1' }))(k));
        expect(after).toBe(before === 'undecided' ? '1' : before);
      }),
    );
  });

  test('out of a holdout or a test whose share is raised', () => {
    fc.assert(
      fc.property(scene, shareOf, ({ key: k, weights: own, seed, holdout, test: share }, other) => {
        const of = (facts: Partial<Split>) => wordOf(createAssigner(weighted(...own), split({ seed, ...facts }))(k));
        const [less, more] = [Math.min(holdout, other), Math.max(holdout, other)];
        if (of({ holdout: less }) === 'holdout') expect(of({ holdout: more })).toBe('holdout');
        const [few, many] = [Math.min(share, other), Math.max(share, other)];
        if (of({ test: few }) !== 'undecided') expect(of({ test: many })).toBe(of({ test: few }));
      }),
    );
  });

  test('by weights that mean the same, or by other names', () => {
    fc.assert(
      fc.property(key, fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 10 }), (k, own) => {
        const plain = createAssigner(weighted(...own), split())(k);
        expect(createAssigner(weighted(...own.map((weight) => weight * 7)), split())(k)).toEqual(plain);
        const renamed = own.map((weight, i) => ({ name: `other-${i}`, weight }));
        expect(createAssigner(renamed, split())(k)).toEqual(plain);
      }),
    );
  });

  test('and every recipient gets a variant, whatever the weights', () => {
    fc.assert(
      fc.property(key, weights, (k, own) => {
        const assignment = createAssigner(weighted(...own), split())(k);
        expect(assignment.kind).toBe('variant');
        expect(assignment.kind === 'variant' ? assignment.index : -1).toBeLessThan(own.length);
      }),
    );
  });
});
