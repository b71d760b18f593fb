import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { RunIdentity } from '../../src/ledger/records.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { lockRun } from '../../src/send/run-lock.ts';
import type { Timers } from '../../src/send/timers.ts';
import type { StartPlan } from './plan.ts';
import type { Random } from './random.ts';
import type { Operation } from './watch.ts';
import type { World } from './world.ts';

/** Opens the ledger as `handbill send` does; with the run's lock, or without it, which costs less. */
export function lock(
  path: string,
  plan: StartPlan,
  identity: RunIdentity,
  nowMs: number,
): { ledger: Ledger } & Disposable {
  if (plan.lock !== 'none') {
    if (plan.lock === 'deleted') rmSync(join(path, '..', 'locks'), { recursive: true, force: true });
    return lockRun({ root: dirname(path), ledger: path }, identity, nowMs);
  }
  const ledger = openLedger(path, { mode: 'write', nowMs });
  return { ledger, [Symbol.dispose]: () => ledger.close() };
}

/** The plan as this start has it; `begins` is told whose delivery begins. */
export function campaignOf(plan: Plan, start: StartPlan, begins: (key: string) => void): Plan {
  const { attempts, notAfterMs, stopAfterInDoubt, stopAfterRejected, tooShort } = start;
  const send = { ...plan.campaign.send, attempts, notAfterMs };
  const limits = { ...plan.campaign.limits, stopAfterInDoubt, stopAfterRejected };
  const minRecipients = tooShort ? { count: 1_000_000, text: '1000000', place: {} } : null;
  const guards = { ...plan.campaign.guards, minRecipients };
  const ratePerSecond = start.ratedByEnvironment ? plan.environment.ratePerSecond : null;
  return {
    ...plan,
    campaign: { ...plan.campaign, send, limits, guards },
    environment: { ...plan.environment, ratePerSecond },
    expander(startMs) {
      const expand = plan.expander(startMs);
      return {
        one(decision, message) {
          begins(decision.key);
          return expand.one(decision, message);
        },
        many: (decisions) => expand.many(decisions),
      };
    },
  };
}

/** What a campaign is called after it was renamed. */
export const RENAMED = 'proof-2';

/** The plan after its campaign was renamed. Without the old id, it looks like another campaign in the same file. */
export function renamed(plan: Plan, how: 'with-id' | 'without-id'): Plan {
  const id = how === 'with-id' ? plan.campaign.id : RENAMED;
  return { ...plan, campaign: { ...plan.campaign, name: RENAMED, id, isIdWritten: how === 'with-id' } };
}

/** The same ledger; `enter` is told which call goes on. */
export function named(ledger: Ledger, enter: (operation: Operation) => () => void): Ledger {
  const within = <A extends readonly unknown[], T>(operation: Operation, call: (...args: A) => T) => {
    return (...args: A): T => {
      const leave = enter(operation);
      try {
        return call(...args);
      } finally {
        leave();
      }
    };
  };
  return {
    ...ledger,
    beginLoad: within('beginLoad', ledger.beginLoad),
    load: within('load', ledger.load),
    finishLoad: within('finishLoad', ledger.finishLoad),
    discardLoad: within('discardLoad', ledger.discardLoad),
    amend: within('amend', ledger.amend),
    start: within('start', ledger.start),
    reopenRejected: within('reopenRejected', ledger.reopenRejected),
    commit: within('commit', ledger.commit),
    skip: within('skip', ledger.skip),
    defer: within('defer', ledger.defer),
    setWinner: within('setWinner', ledger.setWinner),
    finish: within('finish', ledger.finish),
    setLockOwner: within('setLockOwner', ledger.setLockOwner),
    suppress: within('suppress', ledger.suppress),
    pause: within('pause', ledger.pause),
    resume: within('resume', ledger.resume),
    events: {
      ...ledger.events,
      resolve: within('resolve', ledger.events.resolve),
    },
  };
}

/** Kills when the place that was drawn is reached for the n-th time. */
export function createSites(plan: StartPlan, kill: (site: string) => void): { at(site: string): void } {
  let left = plan.kill?.nth ?? 0;
  return {
    at(site) {
      if (plan.kill === null || plan.kill.site !== site) return;
      left -= 1;
      if (left === 0) kill(site);
    },
  };
}

/** Timers of one process: for a dead one everything is over at once, and nothing comes of it. */
export function createTimers(world: World, random: Random, death: AbortSignal): Timers {
  let lastAt = 0;
  return {
    monotonicMs: () => world.monotonicMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (death.aborted || signal.aborted) return resolve();
        const over = (): void => {
          cancel();
          signal.removeEventListener('abort', over);
          death.removeEventListener('abort', over);
          resolve();
        };
        const cancel = world.after(ms, over);
        signal.addEventListener('abort', over);
        death.addEventListener('abort', over);
      }),
    soon(work) {
      if (death.aborted) return queueMicrotask(work);
      const now = (): void => {
        cancel();
        death.removeEventListener('abort', dead);
        work();
      };
      const dead = (): void => {
        cancel();
        queueMicrotask(work);
      };
      // Whatever else comes in during the same turn of the event loop comes before it, and they keep their order.
      lastAt = Math.max(lastAt, world.monotonicMs + (random.chance(0.5) ? 0 : random.next()));
      const cancel = world.after(lastAt - world.monotonicMs, now);
      death.addEventListener('abort', dead, { once: true });
    },
    later(ms, work) {
      if (death.aborted) return queueMicrotask(work);
      const now = (): void => {
        death.removeEventListener('abort', dead);
        work();
      };
      const dead = (): void => {
        cancel();
        queueMicrotask(work);
      };
      const cancel = world.after(ms, now);
      death.addEventListener('abort', dead, { once: true });
    },
  };
}
