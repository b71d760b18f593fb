import { NOTHING_HEARD } from '../heard.ts';
import { judgeEnding, judgeLedger } from '../judge.ts';
import { drawStart, goodStart, type StartPlan } from '../plan.ts';
import type { Start } from '../process.ts';
import { createRandom, type Random } from '../random.ts';
import { type Edition, IDENTITY, type Stage } from '../scene.ts';
import { createServer, type Server } from '../server.ts';
import { play, type SimulateOptions, type Simulation } from '../simulate.ts';
import { beginStart } from '../start.ts';
import { createLedgerView } from '../watch.ts';
import { createWorld, type World } from '../world.ts';
import { BEFORE_MS, type Days, FIRST_DAY, NAME, WINDOW } from './campaigns.ts';
import { createEachWatch, type Morning, OPEN, REACHED } from './watch.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Starts that wait live for days, and look at the clock every 15 seconds. */
const MOST_EVENTS = 200_000;
/** More moments than any list has. */
const MOST_ROUNDS = 200;

/**
 * One history of a campaign whose rows have times: a list each morning, runs that begin while others are being sent,
 * kills, and time that passes. The seed decides everything.
 */
export async function simulateEach(
  seed: number,
  stage: Stage,
  days: Days,
  { coverage, recording = false, sabotage = {} }: SimulateOptions,
): Promise<Simulation> {
  const random = createRandom(seed);
  const world = createWorld({ startMs: FIRST_DAY + 6 * HOUR, recording, coverage, mostEvents: MOST_EVENTS });
  await play(createHistory({ stage, days, world, random, sabotage }), world);
  coverage.count('history of times');
  return { seed, violations: world.violations, log: world.log };
}

interface HistoryOptions {
  readonly stage: Stage;
  readonly days: Days;
  readonly world: World;
  readonly random: Random;
  readonly sabotage: NonNullable<SimulateOptions['sabotage']>;
}

interface Company extends Morning {
  readonly server: Server;
  readonly starts: number[];
  /** Rows that may be claimed by processes that have ended. */
  abandoned: number;
}

interface OneStart {
  readonly at: number;
  readonly afterMs: number;
  readonly plan: StartPlan;
  readonly wait: boolean;
  readonly confirmMs?: number;
}

function createHistory({ stage, days, world, random, sabotage }: HistoryOptions) {
  const isWindowed = random.chance(0.5);
  const companies = days.map((day, at): Company => {
    const edition = isWindowed ? withWindow(day.edition) : day.edition;
    return {
      ...day,
      edition,
      view: createLedgerView(world, edition.plan.referenceOf, NAME, NOTHING_HEARD, day.occurrence),
      server: createServer(world, random.fork(), null, 10_000 * at),
      claims: new Set(),
      starts: [],
      abandoned: 0,
      isBegun: false,
      inFlight: null,
    };
  });
  const watch = createEachWatch(world, companies, isWindowed);
  let folder = stage.folder();
  let alive: Start[] = [];
  let count = 0;
  /** Mornings that have come. */
  let come = 1;

  const begin = ({ at, plan, wait, confirmMs }: OneStart): Start => {
    const company = companies[at];
    if (company === undefined) throw new Error('there is such a morning');
    count += 1;
    const name = `start ${count} of ${company.occurrence}`;
    const text = JSON.stringify({ ...plan, profile: plan.profile.name, wait, isWindowed });
    world.note(() => `${name} begins at ${new Date(world.wallMs).toISOString()}: ${text}`);
    world.cover('start of a morning');
    const begun: Start = beginStart({
      name,
      plan,
      edition: company.edition,
      folder,
      world,
      random: random.fork(),
      server: company.server,
      view: company.view,
      sabotage,
      wait,
      ...(confirmMs === undefined ? {} : { confirmMs }),
      guard: watch.guard(company),
      mostClaimed: () => plan.concurrency + company.abandoned,
      onKill() {
        if (alive.every((other) => other.name === name || other.ending !== null || other.killed))
          folder = stage.folder(folder);
      },
      onTakenOver(db) {
        const by = { name, operation: 'finishLoad', mostClaimed: Number.POSITIVE_INFINITY, winner: null } as const;
        const claimed = (): void => world.object(`${name} claims rows of another run`);
        for (const one of companies) {
          if (one !== company) one.view.committed(db, { ...by, claimed, sinceMs: world.monotonicMs });
        }
        watch.takenOver(company);
      },
      onStarted() {
        company.abandoned = 0;
        company.starts.push(company.server.receipts.length);
      },
      onLoaded: () => undefined,
    });
    alive.push(begun);
    return begun;
  };

  /** Lets processes live until they have ended, and tidies up behind them. */
  const live = async (starts: readonly OneStart[]): Promise<readonly Start[]> => {
    const before = folder;
    const cancel: (() => void)[] = [];
    const begun: (readonly [Start, Company | undefined])[] = [];
    alive = [];
    let waiting = starts.length;
    for (const one of starts) {
      const go = (): void => {
        waiting -= 1;
        const start = begin(one);
        begun.push([start, companies[one.at]]);
        const { killAfterMs, interruptAfterMs, secondSignalAfterMs } = one.plan;
        if (killAfterMs !== null) cancel.push(world.after(killAfterMs, () => start.kill('any moment')));
        if (interruptAfterMs !== null) cancel.push(world.after(interruptAfterMs, start.interrupt));
        if (secondSignalAfterMs !== null) cancel.push(world.after(secondSignalAfterMs, start.abort));
      };
      if (one.afterMs === 0) go();
      else world.after(one.afterMs, go);
    }
    if (starts.length > 1) world.cover('several mornings at a time');
    await world.run(() => waiting === 0 && alive.every(({ ending }) => ending !== null));
    for (const undo of cancel) undo();
    for (const one of alive) judgeEnding(world, one);
    if (folder === before && alive.some(({ holdsOn }) => holdsOn)) folder = stage.folder(before);
    for (const one of alive) one.bury();
    if (folder !== before) stage.remove(before);
    for (const [start, company] of begun) {
      if (start.mayHaveLeft && company !== undefined) company.abandoned += start.plan.concurrency;
    }
    alive = [];
    return begun.map(([start]) => start);
  };

  const drawOne = (at: number, isAlone: boolean, nth: number): OneStart => {
    const company = companies[at];
    const common = {
      ...{ attempts: random.pick([1, 2, 3]), notAfterMs: null, retryStatuses: [], edited: false },
      ...{ first: company?.isBegun !== true, kind: 'plain' as const, lock: 'none' as const, onlyOwn: false },
    };
    const drawn = drawStart(random, common);
    const wait = random.chance(0.06);
    const plan: StartPlan = {
      ...drawn,
      // As a person, or `due`, who takes up what a stop rule has left.
      allow: ['invalid-rows', 'too-late'],
      ...{ clockStepMs: 0, clockStepAfter: null, suppressAfter: null, retry: null },
      // A failing disk is the failure of all who use it, and that is another history.
      fault: isAlone && !wait ? drawn.fault : null,
      killAfterMs: wait && random.chance(0.4) ? random.scale(MINUTE, 10 * HOUR) : drawn.killAfterMs,
      interruptAfterMs: wait ? random.scale(MINUTE, 14 * HOUR) : drawn.interruptAfterMs,
    };
    const confirm = random.chance(0.3) ? { confirmMs: random.scale(1, 3000) } : {};
    return { at, afterMs: nth === 0 ? 0 : random.scale(0.01, wait ? 4 * HOUR : 2000), plan, wait, ...confirm };
  };

  const turn = async (): Promise<void> => {
    if (come < companies.length && random.chance(0.4)) come += 1;
    const newest = come - 1;
    const next = [...(companies[newest]?.times.values() ?? [])].filter((atMs) => atMs - BEFORE_MS > world.wallMs);
    // To a moment at which some are due, or any other one.
    const dueMs = Math.min(...next) - BEFORE_MS - world.wallMs + random.whole(0, 30) * MINUTE;
    const isDue = next.length > 0 && random.chance(0.7);
    world.setClock(isDue ? dueMs : Math.round(random.scale(MINUTE, 5 * HOUR)));
    const others = companies.flatMap(({ isBegun }, at) => (isBegun && at < newest && random.chance(0.6) ? [at] : []));
    const who = random.chance(0.5) ? [newest, ...others] : [...others, newest];
    await live(who.map((at, nth) => drawOne(at, who.length === 1, nth)));
  };

  /** With a good server, whenever a row is due, until none is left. */
  const finish = async (at: number): Promise<void> => {
    const company = companies[at];
    if (company?.isBegun !== true) return;
    const common = { retryStatuses: [], edited: false, notAfterMs: null, winner: null };
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const [last] = await live([{ at, afterMs: 0, plan: goodStart(company.edition, common), wait: false }]);
      const ending = last?.ending ?? null;
      if (ending?.kind === 'nothing-to-do' || (ending?.kind === 'sent' && ending.state === 'finished')) return;
      if (ending?.kind !== 'sent') break;
      world.setClock(Math.max(1000, (ending.opensAtMs ?? world.wallMs + HOUR) - world.wallMs));
    }
    const left = company.view.rows.filter(({ state }) => OPEN.has(state));
    world.object(`${company.occurrence} does not come to an end: ${JSON.stringify(left)}`);
  };

  const judge = (): void => {
    for (const { occurrence, server, view, starts, edition, isBegun } of companies) {
      if (!isBegun) continue;
      const identity = { ...IDENTITY, campaign: NAME, occurrence };
      const alone = view.rows.every(({ state }) => state !== 'claimed');
      const remains = { folder, identity, server, view, starts, planFile: [edition], retryStatuses: [], alone };
      const found = judgeLedger({ ...remains, heard: NOTHING_HEARD, isOpen: () => false });
      for (const what of found) world.object(`${occurrence}: ${what}`);
    }
    const reached = new Map<string, string>();
    for (const { occurrence, view } of companies) {
      for (const { key, state } of view.rows) {
        if (key === null || !REACHED.has(state)) continue;
        const before = reached.get(key);
        if (before !== undefined) world.object(`${key} was sent to by ${before} and by ${occurrence}`);
        reached.set(key, occurrence);
      }
    }
  };

  return {
    async run() {
      for (let left = random.whole(3, 7); left > 0; left--) await turn();
      world.setClock(world.latestMs - world.wallMs + 1000);
      // What a busy API or a kill has left in an older run goes out, or is in doubt, beside the newest.
      for (const at of [...companies.keys()].toReversed()) await finish(at);
      judge();
    },
    close() {
      for (const one of alive) one.bury();
      stage.remove(folder);
    },
  };
}

function withWindow(edition: Edition): Edition {
  const { plan } = edition;
  const send = { ...plan.campaign.send, window: WINDOW };
  const windowed: Edition = {
    ...edition,
    plan: { ...plan, campaign: { ...plan.campaign, send } },
    from: () => windowed,
  };
  return windowed;
}
