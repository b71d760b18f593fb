import type { Guard } from '../process.ts';
import { isInside } from '../several/oracle.ts';
import type { LedgerView, RowView } from '../watch.ts';
import type { World } from '../world.ts';
import { BEFORE_MS, type Day, WINDOW } from './campaigns.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The window does not depend on the person. */
const ANYBODY = { address: '', zones: null };

/** The run of one morning as it is seen from outside. */
export interface Morning extends Day {
  readonly view: LedgerView;
  /** Keys that were ever claimed here. */
  readonly claims: Set<string>;
  /** Its rows are there. */
  isBegun: boolean;
  /** Rows that were in flight when a later run began; null: none has begun. */
  inFlight: ReadonlySet<number> | null;
}

/** A message that counts: accepted, in doubt, or on its way. */
export const REACHED = new Set(['accepted', 'in-doubt', 'claimed']);

/** What `send.each` promises, asked of each request and of all who are left out; nothing of it is handbill's own. */
export function createEachWatch(world: World, all: readonly Morning[], isWindowed: boolean) {
  const isOpen = (ms: number): boolean => !isWindowed || isInside(WINDOW, ANYBODY, ms);
  /** The earliest moment for a time: minute by minute. */
  const earliest = (atMs: number): number => {
    const dueMs = atMs - BEFORE_MS;
    if (isOpen(dueMs)) return dueMs;
    let endMs = dueMs;
    while (!isOpen(endMs - 1)) endMs -= MINUTE;
    return endMs - HOUR;
  };
  const known = new Map<number, number>();
  const opensAt = (atMs: number): number => {
    const found = known.get(atMs) ?? earliest(atMs);
    known.set(atMs, found);
    return found;
  };
  const wasReached = ({ view }: Morning, key: string | null): boolean =>
    view.rows.some((row) => row.key === key && REACHED.has(row.state));

  /** A later run is there: what is in flight stays with this one, and all else is no longer its own. */
  const takenOver = (by: Morning): void => {
    for (const one of all) {
      if (one === by || !one.isBegun) continue;
      const left = one.view.rows.filter(({ state }) => OPEN.has(state));
      if (left.length > 0) world.object(`${left.length} rows of ${one.occurrence} are left to be sent by two runs`);
      one.inFlight = new Set(one.view.rows.flatMap(({ row, state }) => (state === 'claimed' ? [row] : [])));
      world.cover('taken over');
      if (one.inFlight.size > 0) world.cover('taken over in flight');
    }
  };

  return {
    takenOver,
    guard(own: Morning): Guard {
      let beganMs = world.wallMs;
      let said = new Map<number, string>();
      const object = (what: string): void => world.object(`${own.occurrence}: ${what}`);
      const leftOut = ({ key, state, reason }: RowView): void => {
        const atMs = own.times.get(key ?? '');
        if (key === null || reason === null || atMs === undefined || reason === 'duplicate') return;
        const others = all.filter((one) => one !== own);
        const isRight =
          (reason === 'too-early' && beganMs < opensAt(atMs)) ||
          (reason === 'outside-window' && isWindowed) ||
          (reason === 'window-closed' && isWindowed && world.wallMs > opensAt(atMs)) ||
          (reason === 'expired' && world.wallMs >= atMs) ||
          (reason === 'excluded' && others.some(({ claims }) => claims.has(key))) ||
          (reason === 'removed' && own.inFlight !== null);
        world.cover(`each:${reason}`);
        if (!isRight) object(`${key} is ${state} (${reason}) although nothing asks for it`);
      };
      return {
        begins() {
          beganMs = world.wallMs;
          said = textsOf(own.view.rows);
        },
        claimed({ row, key }) {
          if (key === null) return;
          own.claims.add(key);
          if (own.inFlight !== null && !own.inFlight.has(row))
            object(`${key} is claimed, and a later run took it over`);
        },
        posting({ references }) {
          for (const reference of references) {
            const key = own.edition.keyOf(reference);
            const atMs = own.times.get(key) ?? 0;
            const nowMs = world.wallMs;
            world.cover('each posted');
            if (nowMs < opensAt(atMs)) object(`posts to ${key} ${opensAt(atMs) - nowMs} ms too early`);
            if (nowMs >= atMs) object(`posts to ${key} when its time has come`);
            if (!isOpen(nowMs)) object(`posts to ${key} outside the window`);
            if (opensAt(atMs) < atMs - BEFORE_MS) world.cover('each posted earlier');
            for (const other of all) {
              if (other !== own && wasReached(other, key)) object(`posts to ${key}, which ${other.occurrence} reached`);
            }
          }
        },
        answered: () => undefined,
        committed(operation) {
          if (operation === 'finishLoad') own.isBegun = true;
          const now = textsOf(own.view.rows);
          for (const row of own.view.rows) {
            const isSet = row.state === 'skipped' || row.state === 'deferred';
            if (isSet && said.get(row.row) !== now.get(row.row)) leftOut(row);
          }
          said = now;
        },
      };
    },
  };
}

export const OPEN: ReadonlySet<string> = new Set(['pending', 'deferred', 'failed']);

function textsOf(rows: readonly RowView[]): Map<number, string> {
  return new Map(rows.map(({ row, state, reason }) => [row, `${state} ${reason}`]));
}
