import process from 'node:process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Ledger, Reach } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { Cap, LoadRow, PendingRow, ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { scratchPath } from './scratch.ts';
import { HELLO, loadRow, NOON, resultOf } from './values.ts';

/*
 * Three campaigns on one ledger, each with a connection of its own: whatever the order of starts, claims, answers, kills
 * and resolutions, no recipient is claimed who has had as many messages as the cap allows.
 */

const HOUR = 3_600_000;

/** Some 30 ms each: most of it are syncs. */
const FULL = process.env['HANDBILL_FULL'] === '1';
const RUNS = FULL ? 100 : 5;

interface Setup {
  /** Which of six people the list holds. */
  readonly people: readonly number[];
  /** Keys are customer numbers, else the addresses themselves. */
  readonly isKeyed: boolean;
  readonly isCounted: boolean;
  readonly max: number;
  readonly hours: number;
}

interface Step {
  readonly kind: 'start' | 'claim' | 'answer' | 'finish' | 'tick' | 'resolve';
  readonly who: number;
  readonly n: number;
}

/** What the model knows of a row. */
interface Row {
  readonly key: string;
  readonly to: string;
  state: 'pending' | 'claimed' | 'accepted' | 'in-doubt' | 'other';
  sentMs: number;
}

/** Two of the six share an address. */
const addressOf = (person: number): string => `+4470000000${person % 5}`;

const setup: fc.Arbitrary<Setup> = fc.record({
  people: fc.uniqueArray(fc.nat(5), { minLength: 2, maxLength: 6 }),
  isKeyed: fc.boolean(),
  isCounted: fc.boolean(),
  max: fc.integer({ min: 1, max: 2 }),
  hours: fc.integer({ min: 1, max: 30 }),
});

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant('claim' as const) },
    { weight: 4, arbitrary: fc.constant('answer' as const) },
    { weight: 3, arbitrary: fc.constant('start' as const) },
    { weight: 1, arbitrary: fc.constantFrom('finish' as const, 'tick' as const, 'resolve' as const) },
  ),
  who: fc.nat(2),
  n: fc.nat(9),
});

class World {
  readonly path = scratchPath();
  nowMs = NOON;
  readonly campaigns: Campaign[];

  constructor(setups: readonly Setup[]) {
    this.campaigns = setups.map((one, i) => new Campaign(this, `c${i}`, one));
  }

  /** How many messages a recipient has had from others, as the model sees it. */
  had(own: Campaign, key: string, to: string, sinceMs: number): number {
    return this.campaigns
      .filter((one) => one !== own && one.setup.isCounted)
      .flatMap(({ rows }) => rows)
      .filter((row) => row.state === 'claimed' || row.state === 'accepted' || row.state === 'in-doubt')
      .filter((row) => row.sentMs >= sinceMs && [row.key, row.to].some((one) => one === key || one === to)).length;
  }
}

class Campaign {
  readonly world: World;
  readonly name: string;
  readonly setup: Setup;
  readonly rows: readonly Row[];
  ledger: Ledger | null = null;
  run: RunRecord | null = null;
  reach: Reach | null = null;
  flying: PendingRow[] = [];
  capped = 0;

  constructor(world: World, name: string, setup: Setup) {
    this.world = world;
    this.name = name;
    this.setup = setup;
    const seen = new Set<string>();
    // A list whose keys are its addresses holds each of them once.
    this.rows = setup.people
      .map((person): Row => {
        const to = addressOf(person);
        return { key: setup.isKeyed ? `k${person}` : to, to, state: 'pending', sentMs: 0 };
      })
      .filter(({ key }) => !seen.has(key) && seen.add(key));
  }

  /** Also after a kill: what was in flight is in doubt. */
  start(): void {
    const { world, name, setup, rows } = this;
    this.ledger?.close();
    const ledger = openLedger(world.path, { mode: 'write', nowMs: world.nowMs });
    const identity = { ...HELLO, campaign: name };
    let run = ledger.findRun(identity);
    this.reach = ledger.reach(identity, { exclude: [], sinceMs: world.nowMs - setup.hours * HOUR });
    if (run === null) {
      const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs: world.nowMs, isCounted: setup.isCounted });
      ledger.load(
        draft,
        rows.map(({ key, to }, row): LoadRow => loadRow(row, { key, to })),
      );
      run = ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: world.nowMs });
    }
    this.run = ledger.start(run, world.nowMs).run;
    this.ledger = ledger;
    for (const row of rows) if (row.state === 'claimed') row.state = 'in-doubt';
    this.flying = [];
  }

  claim(count: number): void {
    const { world, setup, ledger, run, reach } = this;
    if (ledger === null || run === null || reach === null) return;
    const due = ledger.pending(run, -1, count);
    const cap: Cap = { max: setup.max, sinceMs: world.nowMs - setup.hours * HOUR };
    const had = due.map(({ row }) => world.had(this, this.rows[row]?.key ?? '', this.rows[row]?.to ?? '', cap.sinceMs));
    const claims = due.map(({ row, key }) => ({ row, step: 0, key, to: this.rows[row]?.to ?? '', caps: [cap] }));
    const answers = ledger.commit(run, [], claims, world.nowMs, { reach });
    for (const [i, answer] of answers.entries()) {
      const pending = due[i];
      const row = this.rows[pending?.row ?? -1];
      if (row === undefined || pending === undefined) throw new Error('no such row');
      if (answer === 'claimed') {
        expect(had[i], `${this.name} row ${pending.row}`).toBeLessThan(setup.max);
        row.state = 'claimed';
        row.sentMs = world.nowMs;
        this.flying.push(pending);
      } else {
        expect(answer).toBe('frequency-cap');
        row.state = 'other';
        this.capped += 1;
      }
    }
  }

  answer(n: number): void {
    const pending = this.flying.shift();
    if (this.ledger === null || this.run === null || pending === undefined) return;
    const state = (['accepted', 'in-doubt', 'rejected', 'pending', 'accepted'] as const)[n % 5] ?? 'accepted';
    const reason = state === 'accepted' ? null : 'timeout';
    const changes: Partial<ResultRecord> = { state, reason, attempts: pending.attempts + 1, messageId: null };
    this.ledger.commit(this.run, [resultOf(pending.row, changes)], [], this.world.nowMs);
    const row = this.rows[pending.row];
    if (row !== undefined) row.state = state === 'rejected' ? 'other' : state;
  }

  finish(): void {
    if (this.ledger === null || this.run === null || this.flying.length > 0) return;
    this.ledger.finish(this.run, { state: 'partial', halt: null, figures: null, nowMs: this.world.nowMs });
    this.ledger.close();
    [this.ledger, this.run, this.reach] = [null, null, null];
  }

  resolve(n: number): void {
    if (this.ledger === null || this.run === null || this.flying.length > 0) return;
    const doubts = [...this.ledger.doubts(this.run)].flat().slice(0, 1);
    const verdict = (['accepted', 'rejected'] as const)[n % 2] ?? 'accepted';
    this.ledger.resolve(this.run, doubts, { verdict, messageId: null, who: '', note: null, nowMs: this.world.nowMs });
    for (const { row } of doubts) {
      const known = this.rows[row];
      if (known !== undefined) known.state = verdict === 'accepted' ? 'accepted' : 'other';
    }
  }

  step({ kind, n }: Step): void {
    if (kind === 'start') this.start();
    else if (kind === 'claim') this.claim(1 + (n % 3));
    else if (kind === 'answer') this.answer(n);
    else if (kind === 'finish') this.finish();
    else if (kind === 'resolve') this.resolve(n);
    else this.world.nowMs += n * 3 * HOUR;
  }

  /** Every row has one outcome, and that of the model. */
  check(): void {
    const ledger = openLedger(this.world.path, { mode: 'read', nowMs: this.world.nowMs });
    const run = ledger.findRun({ ...HELLO, campaign: this.name });
    if (run !== null) {
      const counts = ledger.counts(run);
      expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(this.rows.length);
      const skipped = counts.filter(({ reason }) => reason === 'frequency-cap');
      expect(skipped.reduce((sum, { count }) => sum + count, 0)).toBe(this.capped);
    }
    ledger.close();
  }
}

test('no cap is ever broken, whatever the order of starts, claims, answers, kills and resolutions', () => {
  let [capped, claimed] = [0, 0];
  fc.assert(
    fc.property(fc.tuple(setup, setup, setup), fc.array(step, { minLength: 20, maxLength: 40 }), (setups, steps) => {
      const world = new World(setups);
      try {
        for (const campaign of world.campaigns) campaign.start();
        for (const one of steps) world.campaigns[one.who]?.step(one);
        for (const campaign of world.campaigns) campaign.check();
        for (const one of world.campaigns) {
          capped += one.capped;
          claimed += one.rows.filter(({ sentMs }) => sentMs > 0).length;
        }
      } finally {
        for (const { ledger } of world.campaigns) ledger?.close();
      }
    }),
    { numRuns: RUNS },
  );
  // Both happened, so that neither "all" nor "none" would pass. In a few runs neither has to.
  if (!FULL) return;
  expect(capped).toBeGreaterThan(0);
  expect(claimed).toBeGreaterThan(0);
});
