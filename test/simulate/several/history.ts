import { judgeEnding, judgeLedger } from '../judge.ts';
import { goodStart } from '../plan.ts';
import type { Sabotage, Start } from '../process.ts';
import { WORDS } from '../provider.ts';
import { createRandom, type Random } from '../random.ts';
import { createOtherSide } from '../receiver.ts';
import { type Edition, IDENTITY, type Stage } from '../scene.ts';
import { createServer, type Server } from '../server.ts';
import { play, type SimulateOptions, type Simulation } from '../simulate.ts';
import { beginStart } from '../start.ts';
import { createLedgerView } from '../watch.ts';
import { createWorld, type World } from '../world.ts';
import type { Cast } from './campaigns.ts';
import { drawSeveral, type OneStart, type RuleSet, type SeveralPlan, type Turn } from './draw.ts';
import { createOthers } from './others.ts';
import { createRuleWatch, type Watched } from './watch.ts';

/** Starts that wait for windows live for days, and look at the clock every 15 seconds. */
const MOST_EVENTS = 200_000;
/** Whoever is not reached by one leg gets the next, and that is told too. */
const MOST_LAST_STARTS = 6;
const HALF_HOUR = 1_800_000;
/** More openings than anybody waits for. */
const MOST_ROUNDS = 40;

/**
 * One history of several campaigns with the same people: rules, opt-outs, lists that change, and time that passes over
 * openings, closings and nights on which clocks change. The seed decides everything.
 */
export async function simulateSeveral(
  seed: number,
  stage: Stage,
  cast: Cast,
  { coverage, recording = false, sabotage = {} }: SimulateOptions,
): Promise<Simulation> {
  const random = createRandom(seed);
  const plan = drawSeveral(random.fork(), cast);
  const world = createWorld({ startMs: plan.startMs, recording, coverage, mostEvents: MOST_EVENTS });
  const history = createHistory({ seed, stage, cast, plan, world, random, sabotage });
  await play(history, world);
  coverage.count('history of several campaigns');
  return { seed, violations: world.violations, log: world.log };
}

interface HistoryOptions {
  readonly seed: number;
  readonly stage: Stage;
  readonly cast: Cast;
  readonly plan: SeveralPlan;
  readonly world: World;
  readonly random: Random;
  readonly sabotage: Sabotage;
}

/** A campaign and what its starts leave behind. */
interface Company extends Watched {
  readonly server: Server;
  /** How many receipts there were when each start began. */
  readonly starts: number[];
  readonly sealed: Edition[];
  /** Rows that may be claimed by processes that are no more. */
  abandoned: number;
  edited: boolean;
}

function createHistory({ seed, stage, cast, plan, world, random, sabotage }: HistoryOptions) {
  /** Draws what comes back, so that what is sent is as it was without. */
  const chance = createRandom(seed + 0x5eed);
  const other = createOtherSide({
    world,
    random: chance.fork(),
    folder: () => folder,
    views: () => companies.filter(({ isPurged }) => !isPurged).map(({ view }) => view),
    mostClaimed: () => Number.POSITIVE_INFINITY,
  });
  const { heard, provider } = other;
  const companies = cast.campaigns.map((scene, at): Company => {
    const drawn = plan.campaigns[at];
    if (drawn === undefined) throw new Error('a campaign has a plan');
    const view = createLedgerView(world, scene.before.plan.referenceOf, scene.name, heard);
    const { name, before: edition } = scene;
    const server = createServer(world, random.fork(), chance.chance(0.75) ? provider : null, 10_000 * at);
    return {
      name,
      plan: drawn,
      edition,
      view,
      server,
      claims: new Map(),
      isPurged: false,
      starts: [],
      sealed: [],
      abandoned: 0,
      edited: false,
    };
  });
  const watch = createRuleWatch(world, cast, companies, heard);
  let folder = stage.folder();
  const others = createOthers({ world, cast, watch, folder: () => folder });
  let alive: Start[] = [];
  let count = 0;

  const begin = (at: number, { plan: start, wait }: Omit<OneStart, 'campaign' | 'afterMs'>, list: number): Start => {
    const company = companies[at];
    const scene = cast.campaigns[at];
    if (company === undefined || scene === undefined) throw new Error('there is such a campaign');
    count += 1;
    const name = `start ${count} of ${company.name}`;
    const edited = start.edited;
    company.edited ||= edited;
    const original = edited ? scene.after : scene.before;
    const rules = edited ? company.plan.after : company.plan.before;
    const edition = withRules(original, rules);
    const inFlight = start.concurrency * edition.plan.recipientsPerRequest;
    world.cover('start of several');
    world.note(
      () =>
        `${name} begins at ${new Date(world.wallMs).toISOString()}: ${JSON.stringify({ ...start, profile: start.profile.name, wait, rules, list })}`,
    );
    const begun: Start = beginStart({
      name,
      plan: start,
      edition,
      folder,
      world,
      random: random.fork(),
      server: company.server,
      view: company.view,
      sabotage,
      wait,
      suppressions: () => cast.lists[list]?.suppressions ?? cast.lists[0].suppressions,
      guard: watch.guard(company, edited, list),
      mostClaimed: () => inFlight + company.abandoned,
      onKill() {
        if (alive.every((other) => other.name === name || other.ending !== null || other.killed))
          folder = stage.folder(folder);
      },
      onSettled(db) {
        const by = { name, operation: 'settle', mostClaimed: Number.POSITIVE_INFINITY, winner: null } as const;
        const claimed = (): void => world.object(`${name} claims by settling`);
        for (const one of companies) {
          if (one === company || one.isPurged) continue;
          one.view.committed(db, { ...by, claimed, sinceMs: world.monotonicMs });
        }
      },
      onStarted() {
        company.abandoned = 0;
        company.starts.push(company.server.receipts.length);
      },
      onSealed() {
        if (company.sealed.at(-1) !== original) company.sealed.push(original);
      },
    });
    alive.push(begun);
    return begun;
  };

  /** Lets processes live until they have ended, and tidies up behind them. */
  const live = async (turn: Pick<Turn, 'starts' | 'optOuts' | 'clockStep' | 'list'>): Promise<readonly Start[]> => {
    const before = folder;
    const cancel: (() => void)[] = [];
    const begun: { readonly start: Start; readonly company: Company | undefined }[] = [];
    alive = [];
    let waiting = turn.starts.length;
    for (const one of turn.starts) {
      const go = (): void => {
        waiting -= 1;
        const start = begin(one.campaign, one, turn.list);
        begun.push({ start, company: companies[one.campaign] });
        provoke(start, cancel);
      };
      if (one.afterMs === 0) go();
      else world.after(one.afterMs, go);
    }
    if (turn.starts.length > 1) world.cover('several at a time');
    for (const optOut of turn.optOuts) cancel.push(world.after(optOut.afterMs, () => others.suppress(optOut, alive)));
    const { clockStep } = turn;
    if (clockStep !== null) cancel.push(world.after(clockStep.afterMs, () => world.setClock(clockStep.byMs)));
    await world.run(() => waiting === 0 && alive.every(({ ending }) => ending !== null));
    for (const undo of cancel) undo();
    other.letGo();
    for (const one of alive) judgeEnding(world, one);
    if (folder === before && alive.some(({ holdsOn }) => holdsOn)) folder = stage.folder(before);
    for (const one of alive) one.bury();
    if (folder !== before) stage.remove(before);
    for (const { start, company } of begun) {
      if (start.mayHaveLeft && company)
        company.abandoned += start.plan.concurrency * company.edition.plan.recipientsPerRequest;
    }
    alive = [];
    return begun.map(({ start }) => start);
  };

  const provoke = (start: Start, cancel: (() => void)[]): void => {
    const { killAfterMs, interruptAfterMs, secondSignalAfterMs } = start.plan;
    if (killAfterMs !== null) cancel.push(world.after(killAfterMs, () => start.kill('any moment')));
    if (interruptAfterMs !== null) cancel.push(world.after(interruptAfterMs, start.interrupt));
    if (secondSignalAfterMs !== null) cancel.push(world.after(secondSignalAfterMs, start.abort));
  };

  const posts = (): number => companies.reduce((sum, { server }) => sum + server.receipts.length, 0);

  const turn = async (one: Turn): Promise<void> => {
    const halfHour = HALF_HOUR - ((world.wallMs + one.passMs) % HALF_HOUR) - Math.round(random.scale(1, 3000));
    const byMs = one.passMs + (one.toTheHalfHour ? Math.max(0, halfHour) : 0);
    if (byMs > 0) world.setClock(byMs);
    const purged = one.purge === null ? undefined : companies[one.purge];
    if (purged !== undefined && purged.sealed.length > 0) others.purge(purged);
    for (let left = chance.whole(-2, 3); left > 0; left--) {
      const { address } = cast.people[chance.whole(0, cast.people.length - 1)] ?? {};
      if (address !== undefined) world.after(chance.scale(0.5, 2000), () => provider.says(address, chance.pick(WORDS)));
    }
    await live(one);
    if (chance.chance(0.5)) await quiet();
  };

  /** Until everybody has told what there is to tell. */
  const quiet = async (): Promise<void> => {
    await world.run(() => provider.isIdle);
    other.letGo();
  };

  /** With a good server, and whenever somebody's window opens, until nobody is left who is ever to be sent to. */
  const finish = async (at: number): Promise<void> => {
    const company = companies[at];
    const scene = cast.campaigns[at];
    if (company === undefined || scene === undefined) return;
    const edited = company.edited;
    const { notAfterMs } = edited ? company.plan.after : company.plan.before;
    const start = goodStart(edited ? scene.after : scene.before, {
      retryStatuses: [],
      edited,
      notAfterMs,
      winner: null,
    });
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const one = { campaign: at, afterMs: 0, plan: start, wait: false };
      const [last] = await live({ starts: [one], optOuts: [], clockStep: null, list: 0 });
      const ending = last?.ending ?? null;
      if (isOver(company, ending)) return;
      const opensAtMs = ending?.kind === 'sent' ? ending.opensAtMs : null;
      world.setClock(Math.max(1000, (opensAtMs ?? world.wallMs + 2 * 3_600_000) - world.wallMs));
    }
    world.object(`${company.name} does not come to an end: ${JSON.stringify(company.view.rows.filter(isOpen))}`);
  };

  const isOver = (company: Company, ending: Start['ending']): boolean => {
    if (ending?.kind === 'nothing-to-do') return true;
    if (ending?.kind === 'refused') return ending.code === 'run-purged' || ending.code === 'too-many-recipients';
    if (ending?.kind !== 'sent') return false;
    world.cover(`over:${ending.halt ?? ending.state}`);
    if (ending.halt === 'canary' || ending.state === 'finished') return true;
    return company.view.rows.every((row) => !isOpen(row) || row.reason === 'zone-unknown');
  };

  const judge = (company: Company): void => {
    const { name, server, view, starts, sealed } = company;
    const identity = { ...IDENTITY, campaign: name };
    if (company.isPurged) {
      judgePurged(company);
      return;
    }
    if (sealed.length === 0) {
      if (server.receipts.length > 0) world.object(`${name} was never begun, and was sent`);
      return;
    }
    // Whoever is left waits for a zone, behind a gate, or for others whose runs were purged.
    const mayWait = (): boolean => true;
    // Where the last start was refused (its campaign leaves out people of a purged run) nobody took back the claims of
    // a killed one, and their doubts wait for the next start.
    const alone = view.rows.every(({ state }) => state !== 'claimed');
    const remains = {
      folder,
      identity,
      server,
      view,
      starts,
      sealed,
      retryStatuses: [],
      alone,
      mayWait,
      heard,
      isOpen: () => false,
    };
    for (const what of judgeLedger(remains)) world.object(`${name}: ${what}`);
  };

  const judgePurged = ({ name, view }: Company): void => {
    others.inLedger((ledger) => {
      const run = ledger.findRun({ ...IDENTITY, campaign: name });
      const sum = run === null ? 0 : ledger.counts(run).reduce((all, one) => all + one.count, 0);
      const rows = view.rows.filter(({ leg }) => leg === 0).length;
      if (sum !== rows) world.object(`${name} had ${rows} recipients, and ${sum} of them are counted after the purge`);
    });
  };

  return {
    async run() {
      for (const one of plan.turns) await turn(one);
      for (let [sent, round] = [-1, 0]; sent < posts() && round < MOST_LAST_STARTS; round++) {
        sent = posts();
        await quiet();
        for (const at of companies.keys()) await finish(at);
      }
      await quiet();
      for (const company of companies) judge(company);
    },
    close() {
      other.letGo();
      for (const one of alive) one.bury();
      stage.remove(folder);
    },
  };
}

function isOpen({ state }: { readonly state: string }): boolean {
  return state === 'pending' || state === 'failed' || state === 'deferred';
}

/** The same campaign with other rules. */
function withRules(edition: Edition, rules: RuleSet): Edition {
  const { plan } = edition;
  const { window, canary, notAfterMs, maxRecipients, frequency, isCounted } = rules;
  const exclude = rules.exclude.map((campaign) => ({ campaign, occurrence: null, place: {}, unknown: null }));
  const send = { ...plan.campaign.send, window, canary, notAfterMs };
  const limits = { ...plan.campaign.limits, maxRecipients };
  return { ...edition, plan: { ...plan, campaign: { ...plan.campaign, send, limits, exclude, frequency, isCounted } } };
}
