import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printReport } from '../../src/cli/report/print.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunRecord } from '../../src/ledger/records.ts';
import type { Report } from '../../src/model.ts';
import type { CommandContext } from '../../src/operations/context.ts';
import { projectHere } from '../../src/operations/project.ts';
import { openSummary, summaries } from '../../src/operations/report.ts';
import { createRunStats } from '../../src/web/counts.ts';
import { keepLedger, type OpenLedger } from '../../src/web/ledger.ts';
import { runPage } from '../../src/web/report/run-page.ts';
import { until } from '../helpers/cli.ts';
import { freshDatabase } from '../helpers/postgres.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { NOW, numberOf, openStream, recordRun, servePages } from './serve-ledger.ts';

/** More than are read at once. */
const ROWS = 2_500;

/** Another process that goes on sending: each time, 100 more recipients are accepted. */
function createSender(path: string) {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOW });
  const rows = Array.from({ length: ROWS }, () => ({ state: 'pending' as const }));
  const run = recordRun(ledger, { campaign: 'hello', isKilled: true }, rows);
  let next = 0;
  const goOn = (): void => {
    const some = Array.from({ length: 100 }, () => next++).filter((row) => row < ROWS);
    const claims = some.map((row) => ({ row, step: 0, key: numberOf(row), to: numberOf(row) }));
    ledger.commit(run, [], claims, NOW);
    const accepted = { step: 0, from: 'claimed', state: 'accepted', reason: null, attempts: 1, error: null } as const;
    const results = some.map((row) => ({ ...accepted, row, httpStatus: 202, messageId: `m-${row}` }));
    const reports = some.map((row) => ({
      ...{ kind: 'delivery' as const, reference: null, address: null, channel: null, word: null, cause: null },
      ...{ error: null, textHash: null, messageId: `m-${row}`, state: 'delivered' as const, atMs: NOW, eventId: null },
    }));
    ledger.commit(run, results, [], NOW);
    ledger.events.record(reports, { nowMs: NOW, source: 'webhook', environment: 'sandbox' });
  };
  goOn();
  return { ledger, run, goOn, close: ledger.close };
}

/** A ledger that is read while the other process goes on: before each question, and between two pieces of a list. */
function whileGoingOn(ledger: Ledger, goOn: () => void): Ledger {
  return {
    ...ledger,
    steps(run) {
      goOn();
      return ledger.steps(run);
    },
    *outcomes(run, filter) {
      goOn();
      for (const batch of ledger.outcomes(run, filter)) {
        yield batch;
        goOn();
      }
      goOn();
    },
  };
}

const sum = (counts: Readonly<Record<string, number | undefined>> = {}) =>
  Object.values(counts).reduce<number>((all, count = 0) => all + count, 0);

/** All that was accepted was delivered, and has one part. */
function expectOneMoment({ totals, deliveries, sms }: Pick<Report, 'totals' | 'deliveries' | 'sms'>): void {
  expect(totals.accepted).toBeGreaterThan(0);
  expect(sms.parts).toBe(totals.accepted);
  expect(sum(deliveries)).toBe(totals.accepted);
}

describe.each(['SQLite', 'PostgreSQL'])('all figures are of one moment, on %s', (database) => {
  let project: TestProject;
  let address: string;
  let sender: ReturnType<typeof createSender>;
  beforeAll(async () => {
    project = createProject({ 'handbill.yaml': '' });
    address = database === 'SQLite' ? project.path('.handbill/ledger.db') : await freshDatabase();
    sender = createSender(address);
  });
  afterAll(() => {
    sender.close();
    project[Symbol.dispose]();
  });

  const read = async (use: (ledger: Ledger, run: RunRecord, context: CommandContext) => Promise<void>) => {
    const reader = openLedger(address, { mode: 'read', nowMs: NOW });
    const nothing = () => undefined;
    const context = { cwd: project.root, env: {}, now: () => NOW, width: 80, interactive: false };
    const shown = { out: nothing, err: nothing, exit: nothing, colour: { out: false, err: false } };
    try {
      await use(whileGoingOn(reader, sender.goOn), sender.run, { ...context, ...shown });
    } finally {
      reader.close();
    }
  };

  it('what is read while it is held, also in a hold within; later the ledger is read as it is then', () =>
    read(async (ledger, run) => {
      const accepted = () => ledger.counts(run).find(({ outcome }) => outcome === 'accepted')?.count ?? 0;
      const before = accepted();
      {
        using _ = ledger.hold();
        const held = accepted();
        sender.goOn();
        {
          using __ = ledger.hold();
          expect(accepted()).toBe(held);
        }
        sender.goOn();
        expect(accepted()).toBe(held);
        expect([...ledger.outcomes(run, { outcomes: ['accepted'] })].flat()).toHaveLength(held);
      }
      expect(accepted()).toBeGreaterThan(before);
    }));

  it('of `report --format json`', () =>
    read(async (ledger, run, context) => {
      const { project: found } = projectHere({ ...context, ledger: address });
      let text = '';
      const out = (piece: string) => {
        text += piece;
      };
      await printReport(ledger, run, { format: 'json' }, { ...context, out }, found);
      expectOneMoment(JSON.parse(text) as Report);
    }));

  it('of the page of a report', () =>
    read(async (ledger, run, context) => {
      const { project: found } = projectHere({ ...context, ledger: address });
      const summary = await openSummary(ledger, run, context, found);
      const made: Report[] = [];
      const watched = {
        ...summary,
        reportOf: (...given: Parameters<typeof summary.reportOf>) => {
          const report = summary.reportOf(...given);
          made.push(report);
          return report;
        },
      };
      let pieces = 0;
      for await (const _ of runPage(ledger, run, { nowMs: NOW }, watched)) pieces += 1;
      expect(pieces).toBeGreaterThan(0);
      expect(made).toHaveLength(1);
      for (const report of made) expectOneMoment(report);
    }));

  it('of all runs', () =>
    read(async (ledger) => {
      const [one] = summaries(ledger);
      expect(one?.sms.parts).toBe(one?.totals.accepted);
    }));

  it('of a run on the pages, while it goes on and when it has ended', async () => {
    const keeper = keepLedger(address, () => NOW);
    const held = sender.ledger.lock(sender.run);
    const current = (): OpenLedger | null => {
      const open = keeper.current();
      if (open === null) return null;
      return { ...open, scan: { ...open.scan, ledger: whileGoingOn(open.scan.ledger, sender.goOn) } };
    };
    const stats = createRunStats(
      { ...keeper, current },
      () => NOW,
      async () => null,
    );
    const look = async () => {
      const { value } = await stats.of(keeper.current()?.ledger.findRun(sender.run) ?? sender.run, 60_000);
      const of = (outcome: string) => value?.steps.find((step) => step.outcome === outcome)?.count ?? 0;
      expect(value?.steps.find(({ outcome }) => outcome === 'accepted')?.parts).toBe(of('accepted'));
      expect(value?.cameBack?.deliveries.reduce((all, { count }) => all + count, 0)).toBe(of('accepted'));
      return { state: value?.run.state, isHeld: value?.isHeld, accepted: of('accepted') };
    };
    const before = await look();
    expect(before).toMatchObject({ state: 'running', isHeld: true });
    sender.ledger.finish(sender.run, { state: 'halted', halt: null, figures: null, nowMs: NOW });
    held?.release();
    sender.goOn();
    // At once, however soon it is after the last look.
    const after = await look();
    expect(after).toMatchObject({ state: 'halted', isHeld: false });
    expect(after.accepted).toBeGreaterThan(before.accepted);
    keeper.close();
  });
});

it('an open page shows the last figures of a run that has ended, without a reload', async () => {
  using project = createProject({ 'handbill.yaml': '' });
  const sender = createSender(project.path('.handbill/ledger.db'));
  const held = sender.ledger.lock(sender.run);
  await using pages = await servePages(project.root);
  const stream = await openStream(pages.port, `/runs/${sender.run.id}`);
  await until('the first figures', () => stream.text().includes('100 parts'), 10_000);
  sender.goOn();
  sender.ledger.finish(sender.run, { state: 'halted', halt: null, figures: null, nowMs: NOW });
  held?.release();
  await until('the last figures', () => stream.text().includes('200 parts'), 10_000);
  await until('that it was halted', () => stream.text().includes('hello: Halted.'), 10_000);
  // Whatever came before: an update that has figures has all of one moment.
  for (const [, text = ''] of stream.text().matchAll(/event: parts\ndata: (.*)\n/g)) {
    const parts = /(\d+) parts/.exec(text)?.[1];
    if (parts !== undefined) expect(text).toContain(`>${parts}<`);
  }
  stream.close();
  sender.close();
});
