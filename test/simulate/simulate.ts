import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openLedger } from '../../src/ledger/open.ts';
import type { Commit, Outcome } from '../../src/model.ts';
import { type FormName, formOf } from '../oracle/forms.ts';
import { numberOf } from '../oracle/scene.ts';
import type { Coverage } from './coverage.ts';
import { judgeEnding, judgeLedger } from './judge.ts';
import { judgeReplay } from './judge-events.ts';
import { drawHistory, goodStart, type HistoryPlan, type StartPlan, withGuardsAndNames, withStandIns } from './plan.ts';
import type { Sabotage, Start } from './process.ts';
import { WORDS } from './provider.ts';
import { createRandom, type Random } from './random.ts';
import { createOtherSide, type OtherSide } from './receiver.ts';
import { BEGINNING, type Edition, type EnvironmentName, IDENTITY, type Stage, WINNERS } from './scene.ts';
import { createServer, type Server } from './server.ts';
import { beginStart } from './start.ts';
import { createLedgerView, type LedgerView } from './watch.ts';
import { createWorld, type World } from './world.ts';

export interface Simulation {
  readonly seed: number;
  /** What speaks against the promise; empty when it was kept. */
  readonly violations: readonly string[];
  /** The whole history, if it was asked for. */
  readonly log: readonly string[];
}

export interface SimulateOptions {
  readonly coverage: Coverage;
  readonly recording?: boolean;
  readonly sabotage?: Sabotage;
  /** How the API of the environment is spoken to; default: the seed decides. */
  readonly form?: FormName;
}

/**
 * One history: a list, a server, some starts with all that can go wrong, and a last start with a server that answers
 * well. The seed decides everything; the same seed is the same history.
 */
export async function simulate(seed: number, stage: Stage, options: SimulateOptions): Promise<Simulation> {
  const { coverage, recording = false, sabotage = {}, form = formOf(seed) } = options;
  const random = createRandom(seed);
  const guarded = withGuardsAndNames(drawHistory(random.fork(), stage, form), createRandom(seed + 0x115));
  const plan = withStandIns(guarded, createRandom(seed + 0x57a));
  const world = createWorld({ startMs: BEGINNING, recording, coverage });
  const history = createHistory({ seed, stage, plan, world, random, sabotage });
  await play(history, world);
  coverage.count('history');
  coverage.count(`provider:${form}`);
  return { seed, violations: world.violations, log: world.log };
}

/** Plays a history to its end; what is thrown speaks against the promise too. */
export async function play(
  history: { run(): Promise<void>; close(): void },
  world: Pick<World, 'object'>,
): Promise<void> {
  try {
    await history.run();
  } catch (error) {
    world.object(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    history.close();
  }
}

/** What the starts of a history are made from, in turn; null: outside of a repository. */
const COMMITS: readonly (Commit | null)[] = [
  { commit: 'a'.repeat(40), branch: 'main', clean: true },
  { commit: 'a'.repeat(40), branch: 'main', clean: false },
  null,
];

/** A recipient who is not reached by one step gets the next, and that is told too. */
const MOST_LAST_STARTS = 8;

interface HistoryOptions {
  readonly seed: number;
  readonly stage: Stage;
  readonly plan: HistoryPlan;
  readonly world: World;
  readonly random: Random;
  readonly sabotage: Sabotage;
}

function createHistory({ seed, stage, plan, world, random, sabotage }: HistoryOptions) {
  const { scene } = plan;
  const { recipientsPerRequest } = scene.before.plan.campaign.send;
  /** Draws delivery reports and replies, so that what is sent is as it was without. */
  const chance = createRandom(seed + 0x5eed);
  /** Draws pauses, so that everything else is as it was without. */
  const pausing = createRandom(seed + 0xba5e);
  /** Draws orders to send again, so that everything else is as it was without. */
  const ordering = createRandom(seed + 0x0d3);
  let isLast = false;
  const other: OtherSide = createOtherSide({
    world,
    random: chance.fork(),
    environments: plan.environments,
    folder: () => folder,
    views: () => [view],
    mostClaimed: () => mostClaimed(),
  });
  const { heard } = other;
  const server: Server = createServer(world, random.fork(), chance.chance(0.75) ? other.providerOf : null);
  const view: LedgerView = createLedgerView(world, scene.before.plan.referenceOf, IDENTITY.campaign, heard);
  const inFlightOf = (start: StartPlan): number => start.concurrency * recipientsPerRequest;
  /** How many receipts there were when each start began. */
  const starts: number[] = [];
  const planFile: Edition[] = [];
  /** Those of the starts that the ledger holds. */
  const commits: Commit[] = [];
  /** The environment of the last start; null: there was none. */
  let sentFrom: EnvironmentName | null = null;
  let folder = stage.folder();
  let alive: Start[] = [];
  /** Rows that may be claimed by processes that are no more. */
  let abandoned = 0;
  let count = 0;
  const mostClaimed = (): number => alive.reduce((sum, one) => sum + inFlightOf(one.plan), abandoned);

  const begin = (start: StartPlan): Start => {
    count += 1;
    const name = `start ${count}`;
    const edition = start.edited ? scene.after : scene.before;
    const commit = COMMITS[count % COMMITS.length] ?? null;
    world.cover('start');
    world.cover(`server:${start.profile.name}`);
    world.note(() => `${name} begins: ${JSON.stringify({ ...start, profile: start.profile.name })}`);
    const begun: Start = beginStart({
      name,
      plan: start,
      edition: edition.from(start.environment),
      folder,
      world,
      random: random.fork(),
      server,
      view,
      sabotage,
      mostClaimed,
      onKill() {
        // Only when no other process has the ledger open does the copy show what a kill leaves.
        if (alive.every((other) => other.name === name || other.ending !== null || other.killed))
          folder = stage.folder(folder);
      },
      commit,
      onStarted() {
        if (commit !== null) commits.push(commit);
        takeOver(start);
        if (new Set(commits).size > 1) world.cover('several commits');
        abandoned = 0;
        starts.push(server.receipts.length);
      },
      onLoaded() {
        if (planFile.at(-1) !== edition) planFile.push(edition);
      },
    });
    alive.push(begun);
    return begun;
  };

  /** A start from another environment than the one before; two at a time may each have looked before the other began. */
  const takeOver = ({ environment, allow, onlyOwn }: StartPlan): void => {
    if (sentFrom !== null && sentFrom !== environment) {
      world.cover(environment === IDENTITY.environment ? 'taken back' : 'taken over');
      if (!allow.includes('other-provider') && !onlyOwn)
        world.object(`${environment} takes a run of ${sentFrom} over unasked`);
    }
    sentFrom = environment;
  };

  /** Lets one or two processes live until they have ended, and tidies up behind them. */
  const live = async (start: StartPlan & { readonly beside?: { afterMs: number; plan: StartPlan } | null }) => {
    if (start.clockStepMs !== 0) {
      world.setClock(start.clockStepMs);
      world.cover('clock set between starts');
    }
    const before = folder;
    const cancel: (() => void)[] = [];
    alive = [];
    const first = begin(start);
    provoke(first, cancel);
    const { beside } = start;
    if (beside) {
      cancel.push(
        world.after(beside.afterMs, () => {
          world.cover('two at a time');
          provoke(begin(beside.plan), cancel);
        }),
      );
    }
    await world.run(() => alive.every(({ ending }) => ending !== null));
    for (const undo of cancel) undo();
    other.letGo();
    for (const one of alive) judgeEnding(world, one);
    // The end of a process that let go of nothing is as a kill for the files.
    if (folder === before && alive.some(({ holdsOn }) => holdsOn)) folder = stage.folder(before);
    for (const one of alive) one.bury();
    if (folder !== before) stage.remove(before);
    for (const one of alive) if (one.mayHaveLeft) abandoned += inFlightOf(one.plan);
    const last = alive.at(-1) ?? first;
    alive = [];
    return last;
  };

  const provoke = (start: Start, cancel: (() => void)[]): void => {
    const { killAfterMs, interruptAfterMs, secondSignalAfterMs, clockStepAfter, suppressAfter } = start.plan;
    if (killAfterMs !== null) cancel.push(world.after(killAfterMs, () => start.kill('any moment')));
    if (interruptAfterMs !== null) cancel.push(world.after(interruptAfterMs, start.interrupt));
    if (secondSignalAfterMs !== null) cancel.push(world.after(secondSignalAfterMs, start.abort));
    if (clockStepAfter !== null) {
      cancel.push(
        world.after(clockStepAfter.ms, () => {
          world.setClock(clockStepAfter.byMs);
          world.cover('clock set while sending');
        }),
      );
    }
    if (suppressAfter !== null) {
      cancel.push(
        world.after(suppressAfter.ms, () => {
          const { address } = view.rows[Math.floor(suppressAfter.share * view.rows.length)] ?? {};
          if (typeof address === 'string') start.suppress(address);
        }),
      );
    }
    if (!isLast && pausing.chance(0.06)) cancel.push(world.after(pausing.scale(1, 5000), () => start.pause(true)));
    // Also a pause of an earlier start, which halts this one if it is still there.
    if (pausing.chance(0.2)) cancel.push(world.after(pausing.scale(1, 5000), () => start.pause(false)));
    if (!chance.chance(0.3)) return;
    const { address } = view.rows[Math.floor(chance.next() * view.rows.length)] ?? {};
    for (let left = chance.whole(1, 3); left > 0; left--) {
      const work = () => other.says(address ?? numberOf(chance.whole(0, 9)), chance.pick(WORDS));
      world.after(chance.scale(0.5, 3000), work);
    }
  };

  /** Until every event has arrived. */
  const quiet = async (): Promise<void> => {
    await world.run(() => other.isIdle);
    other.letGo();
  };

  /** Between two starts, as a person would. */
  const resume = (): void => {
    // With a clock that was set back, the ledger would be refused.
    if (!existsSync(join(folder, 'ledger.db')) || world.wallMs < world.latestMs) return;
    const nowMs = world.wallMs;
    const ledger = openLedger(join(folder, 'ledger.db'), { mode: 'write', nowMs });
    ledger.resume({ environment: IDENTITY.environment, campaign: null }, { who: 'ann@ops-1', nowMs });
    ledger.close();
  };

  /** Between two starts, a person wants some of those in doubt sent to again, whatever the provider would have known. */
  const order = (): void => {
    const path = join(folder, 'ledger.db');
    if (!ordering.chance(0.3) || !existsSync(path) || world.wallMs < world.latestMs) return;
    const nowMs = world.wallMs;
    using ledger = openLedger(path, { mode: 'write', nowMs });
    const run = ledger.findRun(IDENTITY);
    if (run === null) return;
    const chosen = [...ledger.doubts(run)].flat().filter(() => ordering.chance(0.6));
    if (chosen.length === 0) return;
    const verdict = { verdict: 'resend', messageId: null, who: 'ann@ops-1', note: null, nowMs } as const;
    const { missed } = ledger.resolve(run, chosen, verdict);
    if (missed.length > 0) world.object(`${missed.length} doubts cannot be sent to again`);
    world.cover('ordered again', chosen.length);
    world.note(() => `ordered again: rows ${chosen.map(({ row }) => row).join(', ')}`);
    using db = new DatabaseSync(path, { readOnly: true });
    const claimed = (): void => world.object('an order claims');
    const by = { name: 'ann', operation: 'order', mostClaimed: 0, winner: null, claimed, sinceMs: world.monotonicMs };
    view.committed(db, { ...by, operation: 'order' });
    abandoned = 0;
  };

  /** With a good server, until no recipient is left to be sent to and no more events come. */
  const finish = async (): Promise<Start> => {
    const { edited = false, notAfterMs = null } = plan.starts.at(-1) ?? {};
    const edition = edited || planFile.at(-1) === scene.after ? scene.after : scene.before;
    const { retryStatuses } = plan;
    const environment = plan.environments.at(-1) ?? 'test';
    let quietRounds = 0;
    for (let round = 1; ; round++) {
      await quiet();
      // The variant that was named as the winner before is so still.
      const winner = edition.kind === 'tested' && view.winner === null ? WINNERS[1] : null;
      const common = { retryStatuses, edited: edition === scene.after, notAfterMs, winner, environment };
      const before = server.receipts.length;
      const last = await live(goodStart(edition, common));
      const { ending } = last;
      const finished = ending?.kind === 'nothing-to-do' || (ending?.kind === 'sent' && ending.state === 'finished');
      if (!finished) world.object(`a last start ended with ${JSON.stringify(ending)}`);
      // A recipient who was resolved in this start may be due for a fallback in the next.
      quietRounds = server.receipts.length === before ? quietRounds + 1 : 0;
      const isOver = other.isIdle && quietRounds > (ending?.kind === 'nothing-to-do' ? 0 : 1);
      if (!finished || isOver || round > MOST_LAST_STARTS) return last;
    }
  };

  return {
    async run() {
      world.cover(`scene:${scene.before.kind}`);
      for (const start of plan.starts) {
        await live(start);
        if (pausing.chance(0.5)) resume();
        order();
        // Sometimes the next one comes so soon that hardly anything came back.
        if (chance.chance(0.5)) await quiet();
      }
      // The clock is put right, and the server is well.
      const isLimited = view.rows.some(({ state, reason }) => state === 'pending' && reason === 'rate-limited');
      // Those that the API was too busy for wait for up to an hour.
      world.setClock(world.latestMs - world.wallMs + (isLimited ? 3_700_000 : 1000));
      if (isLimited) world.cover('waits for a busy API');
      const former = chance.chance(0.3) ? [stage.folder(folder), stage.folder(folder)] : [];
      isLast = true;
      resume();
      const last = await finish();
      const { retryStatuses } = plan;
      const alone = plan.starts.every(({ beside }) => beside === null);
      const expired = last.plan.notAfterMs !== null && world.wallMs > last.plan.notAfterMs;
      const isOpen = ({ to }: Outcome): boolean => !expired && to !== null && !view.isLeftOut(to);
      const remains = {
        folder,
        identity: IDENTITY,
        server,
        view,
        starts,
        commits,
        planFile,
        retryStatuses,
        alone,
        heard,
        isOpen,
      };
      const [one, two] = former;
      if (one !== undefined && two !== undefined) {
        world.cover('replayed in another order');
        const replay = { folders: [one, two], told: heard.told, random: chance, nowMs: world.latestMs } as const;
        for (const what of judgeReplay({ ...replay, startLifts: other.plan.startLifts })) world.object(what);
        for (const done of former) stage.remove(done);
      }
      for (const what of judgeLedger(remains)) world.object(what);
    },
    close() {
      other.letGo();
      for (const one of alive) one.bury();
      stage.remove(folder);
    },
  };
}
