import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { joinReplies, resolveByReports } from '../../src/send/deliveries.ts';
import { createHeard, type Heard } from './heard.ts';
import { createProvider, drawProvider, type Provider, type ProviderPlan, type Told, type Word } from './provider.ts';
import type { Random } from './random.ts';
import type { EnvironmentName } from './scene.ts';
import { openedFor, type SqliteWatch } from './sqlite.ts';
import type { LedgerView } from './watch.ts';
import type { World } from './world.ts';

/** The process that `handbill listen` is, and those who report to it: a provider for each environment. */
export interface OtherSide {
  readonly plan: ProviderPlan;
  readonly providerOf: (environment: EnvironmentName) => Provider;
  /** A recipient writes back to one of them. */
  says(address: string, word: Word): void;
  /** None of them has anything left to tell. */
  readonly isIdle: boolean;
  readonly heard: Heard;
  /** The process ends, however it does: another one goes on when the next event comes. */
  letGo(): void;
}

export interface OtherSideOptions {
  readonly world: World;
  readonly random: Random;
  /** Default: one. */
  readonly environments?: readonly [EnvironmentName, ...EnvironmentName[]];
  /** Where the ledger is now. */
  readonly folder: () => string;
  /** Of the runs whose rows may change. */
  readonly views: () => readonly LedgerView[];
  readonly mostClaimed: () => number;
}

class Killed extends Error {}

type Site = 'before commit' | 'after commit' | 'before settling';

/** Doubts are looked at so long after a report, at most. */
const SETTLE_AFTER_MS = 1000;

export function createOtherSide(options: OtherSideOptions): OtherSide {
  const { world, random, environments = ['test'], folder, views, mostClaimed } = options;
  const plan = drawProvider(random, environments.length > 1);
  const heard = createHeard(plan.startLifts);
  /** Of messages that are reported, and whose provider said it last. */
  const ids = new Map<string, EnvironmentName>();
  let open: { readonly ledger: Ledger; readonly db: DatabaseSync; readonly in: string } | null = null;
  let dies: Site | null = null;
  let operation: 'open' | 'record' | 'resolve' = 'open';
  let cancel: (() => void) | null = null;

  const committed = (db: DatabaseSync): void => {
    world.cover(`received:${operation}`);
    const by = { name: 'the receiver', operation, winner: null, sinceMs: world.monotonicMs } as const;
    const claimed = (): void => world.object('the receiver claims');
    for (const view of views()) view.committed(db, { ...by, mostClaimed: mostClaimed(), claimed });
  };
  const connect = () => {
    if (open !== null && open.in === folder()) return open;
    letGo();
    const held: { db: DatabaseSync | null } = { db: null };
    const watch: SqliteWatch = {
      opened(db) {
        held.db = db;
      },
      decide(word, run) {
        if (word === 'rollback' && dies === 'after commit') throw new Killed();
        if (word === 'commit' && operation === 'record' && dies === 'before commit') throw new Killed();
        run();
        if (word === 'commit' && held.db !== null) committed(held.db);
        if (word === 'commit' && operation === 'record' && dies === 'after commit') throw new Killed();
      },
    };
    operation = 'open';
    // It has been there since before the clock was set.
    const path = join(folder(), 'ledger.db');
    const ledger = openedFor(watch, () => openLedger(path, { mode: 'write', nowMs: world.latestMs }));
    if (held.db === null) throw new Error('the ledger of the receiver is watched');
    open = { ledger, db: held.db, in: folder() };
    return open;
  };
  const letGo = (): void => {
    cancel?.();
    cancel = null;
    if (open?.db.isOpen === true) open.db.close();
    open = null;
  };
  const settle = (): void => {
    cancel = null;
    const { ledger } = connect();
    operation = 'resolve';
    const count = resolveByReports(ledger, world.wallMs);
    if (count > 0) world.cover('doubt resolved', count);
    if (random.chance(0.5))
      joinReplies(ledger, { startLifts: plan.startLifts, stopEnds: plan.stopEnds, now: () => world.wallMs });
  };
  const hear = (told: readonly Told[]): boolean => {
    const site = random.chance(plan.kills)
      ? random.pick(['before commit', 'after commit', 'before settling'] as const)
      : null;
    const { ledger, db } = connect();
    dies = site;
    operation = 'record';
    const events = told.map(({ event }) => event);
    try {
      ledger.events.record(events, {
        nowMs: world.wallMs,
        source: 'webhook',
        // A request is of one provider.
        environment: told[0]?.environment ?? 'test',
        startLifts: plan.startLifts,
        stopEnds: plan.stopEnds,
      });
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    dies = null;
    if (site !== 'before commit') {
      const received = db.prepare('SELECT received_at AS at FROM replies WHERE reply_id = ? AND environment = ?');
      heard.note(told, world.monotonicMs, (replyId, from) => Number(received.get(replyId, from)?.['at']));
      for (const { event, environment } of told) {
        world.cover(event.kind === 'reply' ? `told:${event.text}` : `told:${event.kind}`);
        if (event.kind !== 'delivery' || event.messageId === null) continue;
        if ((ids.get(event.messageId) ?? environment) !== environment) world.cover('one id of two providers');
        ids.set(event.messageId, environment);
      }
    }
    world.note(() => `${site === null ? 'received' : `KILLED ${site} of`} ${told.map(describe).join(', ')}`);
    if (site !== null) {
      world.cover(`receiver killed:${site}`);
      letGo();
    } else cancel ??= world.after(random.chance(0.3) ? 0 : random.scale(1, SETTLE_AFTER_MS), settle);
    return site === null || site === 'before settling';
  };

  const providers = new Map(
    environments.map((name) => [name, createProvider(world, random.fork(), plan, name, hear)] as const),
  );
  const providerOf = (environment: EnvironmentName): Provider => {
    const found = providers.get(environment);
    if (found === undefined) throw new Error(`${environment} has a provider`);
    return found;
  };
  let said = 0;
  return {
    plan,
    heard,
    letGo,
    providerOf,
    says(address, word) {
      providerOf(environments[said % environments.length] ?? environments[0]).says(address, word);
      said += 1;
    },
    get isIdle() {
      return [...providers.values()].every(({ isIdle }) => isIdle);
    },
  };
}

function describe({ event, about }: Told): string {
  if (event.kind === 'unread') return 'something';
  return event.kind === 'reply'
    ? `${event.text} of ${event.from}`
    : `${event.state}${event.cause === null ? '' : ` (${event.cause})`} of ${about ?? event.address}`;
}
