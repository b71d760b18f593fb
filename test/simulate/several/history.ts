import type { PriceList } from '../../../src/content/price.ts';
import type { Project } from '../../../src/model.ts';
import { periodAt } from '../../../src/plan/period.ts';
import { judgeEnding, judgeLedger } from '../judge.ts';
import { drawEnvironments, fromEnvironment, goodStart } from '../plan.ts';
import type { Sabotage, Start } from '../process.ts';
import { WORDS } from '../provider.ts';
import { createRandom, type Random } from '../random.ts';
import { createOtherSide } from '../receiver.ts';
import { type Edition, IDENTITY, type Stage } from '../scene.ts';
import { createServer, type Server } from '../server.ts';
import { play, type SimulateOptions, type Simulation } from '../simulate.ts';
import { beginStart } from '../start.ts';
import { createLedgerView, type RowView } from '../watch.ts';
import { createWorld, type World } from '../world.ts';
import type { Cast } from './campaigns.ts';
import { drawSeveral, type OneStart, PRICE, type RuleSet, type SeveralPlan, type Turn } from './draw.ts';
import { createOthers } from './others.ts';
import { createRuleWatch, type Watched } from './watch.ts';

/** Starts that wait for windows live for days, and look at the clock every 15 seconds. */
const MOST_EVENTS = 200_000;
/** A recipient who is not reached by one step gets the next, and that is told too. */
const MOST_LAST_STARTS = 6;
const HALF_HOUR = 1_800_000;
/** More openings than any recipient waits for. */
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
  readonly planFile: Edition[];
  /** Rows that may be claimed by processes that are no more. */
  abandoned: number;
  edited: boolean;
}

function createHistory({ seed, stage, cast, plan, world, random, sabotage }: HistoryOptions) {
  /** Draws delivery reports and replies, so that what is sent is as it was without. */
  const chance = createRandom(seed + 0x5eed);
  /** Draws environments that stand in for another one, so that everything else is as it was without. */
  const standing = createRandom(seed + 0x57a);
  const environments = drawEnvironments(standing);
  const other = createOtherSide({
    world,
    random: chance.fork(),
    environments,
    folder: () => folder,
    views: () => companies.filter(({ isPurged }) => !isPurged).map(({ view }) => view),
    mostClaimed: () => Number.POSITIVE_INFINITY,
  });
  const { heard } = other;
  const companies = cast.campaigns.map((scene, at): Company => {
    const drawn = plan.campaigns[at];
    if (drawn === undefined) throw new Error('a campaign has a plan');
    const { name, before: edition } = scene;
    // The claim of one campaign does not ask for a STOP about the topic of another one.
    const heardHere = { ...heard, isOptedOut: (address: string) => watch.isOptedOut(company, address) };
    const view = createLedgerView(world, edition.plan.referenceOf, name, heardHere);
    const server = createServer(world, random.fork(), chance.chance(0.75) ? other.providerOf : null, 10_000 * at);
    const company: Company = {
      name,
      plan: drawn,
      edition,
      view,
      server,
      claims: new Map(),
      isPurged: false,
      starts: [],
      planFile: [],
      abandoned: 0,
      edited: false,
    };
    return company;
  });
  const watch = createRuleWatch(world, cast, companies, heard, other.plan.stopEnds, plan.budget);
  let folder = stage.folder();
  const others = createOthers({ world, cast, watch, folder: () => folder });
  let alive: Start[] = [];
  let count = 0;

  const begin = (at: number, { plan: drawn, wait }: Omit<OneStart, 'campaign' | 'afterMs'>, list: number): Start => {
    const start = fromEnvironment(drawn, environments, standing);
    const company = companies[at];
    const scene = cast.campaigns[at];
    if (company === undefined || scene === undefined) throw new Error('there is such a campaign');
    count += 1;
    const name = `start ${count} of ${company.name}`;
    const edited = start.edited;
    company.edited ||= edited;
    const original = edited ? scene.after : scene.before;
    const rules = edited ? company.plan.after : company.plan.before;
    const edition = withRules(original.from(start.environment), rules, cast, plan.budget);
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
      prices: plan.budget === null ? null : PRICES,
      uncheckedBudget: plan.uncheckedBudget,
      suppressions: () => ({
        ...(cast.lists[list] ?? cast.lists[0]).suppressions,
        topic: edition.plan.campaign.topic,
      }),
      guard: watch.guard(company, edited, list),
      mostClaimed: () => inFlight + company.abandoned,
      onKill() {
        if (alive.every((other) => other.name === name || other.ending !== null || other.killed))
          folder = stage.folder(folder);
      },
      onSettled(db) {
        const by = { name, operation: 'resolve', mostClaimed: Number.POSITIVE_INFINITY, winner: null } as const;
        const claimed = (): void => world.object(`${name} claims by settling`);
        for (const one of companies) {
          if (one === company || one.isPurged) continue;
          one.view.committed(db, { ...by, claimed, sinceMs: world.monotonicMs });
        }
      },
      onStarted() {
        company.abandoned = 0;
        if (start.environment !== IDENTITY.environment) world.cover('sent from a stand-in');
        company.starts.push(company.server.receipts.length);
      },
      onLoaded() {
        if (company.planFile.at(-1) !== original) company.planFile.push(original);
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
    if (purged !== undefined && purged.planFile.length > 0) others.purge(purged);
    for (let left = chance.whole(-2, 3); left > 0; left--) {
      const { address } = cast.people[chance.whole(0, cast.people.length - 1)] ?? {};
      if (address !== undefined) world.after(chance.scale(0.5, 2000), () => other.says(address, chance.pick(WORDS)));
    }
    await live(one);
    if (chance.chance(0.5)) await quiet();
  };

  /** Until every event has arrived. */
  const quiet = async (): Promise<void> => {
    await world.run(() => other.isIdle);
    other.letGo();
  };

  /** With a good server, and whenever a window opens, until no recipient is left who is ever to be sent to. */
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
    if (ending?.kind === 'refused') return REFUSED.has(ending.code);
    if (ending?.kind !== 'sent') return false;
    world.cover(`over:${ending.halt ?? ending.state}`);
    if (ending.halt === 'canary' || ending.halt === 'over-budget' || ending.state === 'finished') return true;
    return company.view.rows.every(
      (row) => !isOpen(row) || row.reason === 'zone-unknown' || waitsForOther(company, row),
    );
  };

  /**
   * A recipient who may still get the message before: where that campaign is over, this one is too. While their window is
   * closed, that is the reason.
   */
  const waitsForOther = ({ plan: own, edited }: Company, { reason, address }: RowView): boolean =>
    (edited ? own.after : own.before).followsMs !== null &&
    (reason === 'follow-up-later' || reason === 'outside-window') &&
    companies[0]?.view.rows.some((row) => row.address === address && isOpen(row)) === true;

  const judge = (company: Company): void => {
    const { name, server, view, starts, planFile } = company;
    const identity = { ...IDENTITY, campaign: name };
    if (company.isPurged) {
      judgePurged(company);
      return;
    }
    if (planFile.length === 0) {
      if (server.receipts.length > 0) world.object(`${name} was never begun, and was sent`);
      return;
    }
    // Those who are left wait for a zone, behind a gate, or for others whose runs were purged.
    const mayWait = (): boolean => true;
    // Where the last start was refused (its campaign leaves out people of a purged run) no start took back the claims of
    // a killed one, and their doubts wait for the next start.
    const alone = view.rows.every(({ state }) => state !== 'claimed');
    const remains = {
      folder,
      identity,
      server,
      view,
      starts,
      planFile,
      retryStatuses: [],
      alone,
      mayWait,
      heard,
      isOpen: () => false,
    };
    for (const what of judgeLedger(remains)) world.object(`${name}: ${what}`);
  };

  /** The counter is never below what was claimed, and never above the budget. */
  const judgeBudget = (): void => {
    const { budget } = plan;
    if (budget === null) return;
    others.inLedger((ledger) => {
      for (const [fromMs, least] of watch.spent()) {
        const { name } = periodAt(budget.per, fromMs, 'UTC');
        const counted = ledger.spent({ environment: IDENTITY.environment, period: name, currency: 'EUR' });
        if (counted < least) world.object(`${counted} are counted as spent in ${name}, and ${least} were`);
        if (counted > budget.maxMicros) world.object(`${counted} of ${budget.maxMicros} are counted in ${name}`);
      }
    });
  };

  const judgePurged = ({ name, view }: Company): void => {
    others.inLedger((ledger) => {
      const run = ledger.findRun({ ...IDENTITY, campaign: name });
      const sum = run === null ? 0 : ledger.counts(run).reduce((all, one) => all + one.count, 0);
      const rows = view.rows.filter(({ step }) => step === 0).length;
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
      judgeBudget();
    },
    close() {
      other.letGo();
      for (const one of alive) one.bury();
      stage.remove(folder);
    },
  };
}

/** A start is refused, and so is every other one after it. */
const REFUSED: ReadonlySet<string> = new Set(['run-purged', 'too-many-recipients', 'run-not-found', 'over-budget']);

const PRICES: PriceList = { currency: 'EUR', micros: new Map([['*/*', PRICE]]) };

function isOpen({ state }: { readonly state: string }): boolean {
  return state === 'pending' || state === 'failed' || state === 'deferred';
}

/** Its providers say which failures are permanent. */
function withPermanentCodes(project: Project): Project {
  const environments = [...project.environments].map(([name, environment]) => {
    const mapping = { ...environment.webhook.mapping, permanent: ['30005'] };
    return [name, { ...environment, webhook: { ...environment.webhook, mapping } }] as const;
  });
  return { ...project, environments: new Map(environments) };
}

/** The same campaign with other rules. */
function withRules(
  edition: Edition,
  rules: RuleSet,
  cast: Pick<Cast, 'fence'>,
  budget: SeveralPlan['budget'],
): Edition {
  const { plan } = edition;
  const { window, canary, notAfterMs, maxRecipients, frequency, isCounted } = rules;
  const exclude = rules.exclude.map((campaign) => ({
    campaign,
    id: campaign,
    occurrence: null,
    place: {},
    unknown: null,
  }));
  const send = { ...plan.campaign.send, window, canary, notAfterMs };
  const limits = { ...plan.campaign.limits, maxRecipients };
  const { followsMs } = rules;
  const wait = { written: `${followsMs}ms`, ms: followsMs ?? 0 };
  const after =
    followsMs === null ? null : { campaign: 'alpha', id: 'alpha', wait, unless: ['replied'] as const, place: {} };
  const unreachable = rules.unreachable === null ? null : { ...rules.unreachable, place: {} };
  const project = unreachable === null ? plan.campaign.project : withPermanentCodes(plan.campaign.project);
  const campaign = { ...plan.campaign, project, send, limits, exclude, after, frequency, isCounted, unreachable };
  const environment = { ...plan.environment, budget };
  return { ...edition, plan: { ...plan, environment, campaign, fence: rules.isFenced ? cast.fence.fence : null } };
}
