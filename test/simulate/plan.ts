import type { Allowable, Retry, Threshold } from '../../src/model.ts';
import type { FormName } from '../oracle/forms.ts';
import { PROFILES, type Profile } from './behaviour.ts';
import type { Random } from './random.ts';
import {
  BEGINNING,
  type Edition,
  ENVIRONMENTS,
  type EnvironmentName,
  type Scene,
  type SceneKind,
  type Stage,
  WINNERS,
} from './scene.ts';
import type { FaultKind, Word } from './sqlite.ts';
import type { Operation } from './watch.ts';

/** How one process of handbill is started and what happens to it; all of it drawn before it begins. */
export interface StartPlan {
  readonly profile: Profile;
  readonly concurrency: number;
  readonly attempts: number;
  /** The environment that posts: that of the runs, or one that stands in for it. */
  readonly environment: EnvironmentName;
  readonly ratePerSecond: number | null;
  /** The rate is the one that the environment has. */
  readonly ratedByEnvironment: boolean;
  readonly limit: number | null;
  readonly notAfterMs: number | null;
  readonly stopAfterInDoubt: Threshold | null;
  readonly stopAfterRejected: Threshold | null;
  readonly retryStatuses: readonly number[];
  /** The list is shorter than the campaign asks for. */
  readonly tooShort: boolean;
  readonly allow: readonly Allowable[];
  readonly retry: Retry | null;
  /** The campaign has another name than the one under which the run was begun, and says what it was called before. */
  readonly renamed: 'with-id' | 'without-id' | null;
  readonly unconfirmed: boolean;
  /** The list as it is while this start goes on. */
  readonly edited: boolean;
  /** `deleted`: taken although another process holds it, because its file was deleted. */
  readonly lock: 'none' | 'held' | 'deleted';
  readonly onlyOwn: boolean;
  readonly kill: { readonly site: string; readonly nth: number } | null;
  readonly killAfterMs: number | null;
  readonly fault: Fault | null;
  readonly clockStepMs: number;
  /** And by so much while it goes on. */
  readonly clockStepAfter: { readonly ms: number; readonly byMs: number } | null;
  readonly interruptAfterMs: number | null;
  readonly secondSignalAfterMs: number | null;
  /** The variant that a person names as the winner. */
  readonly winner: string | null;
  /** A recipient says STOP: after how long, and which of the rows. */
  readonly suppressAfter: { readonly ms: number; readonly share: number } | null;
}

/** The ledger fails: the first to last time that `operation` says `word`. */
export interface Fault {
  readonly kind: FaultKind;
  /** `sync`: what the ledger asks for beside SQLite. */
  readonly word: Word;
  readonly operation: Operation;
  readonly first: number;
  readonly times: number;
  /** It was done, and only the answer is an error. */
  readonly doneAllTheSame: boolean;
}

/** One history: its list and its starts. The last one, with a good server, is not among them. */
export interface HistoryPlan {
  readonly scene: Scene;
  readonly starts: readonly (StartPlan & { readonly beside: Beside | null })[];
  readonly retryStatuses: readonly number[];
  /** Which of them send; more than one: they take runs over from each other. */
  readonly environments: readonly [EnvironmentName, ...EnvironmentName[]];
}

/** Another process that tries to send at the same time. */
export interface Beside {
  readonly afterMs: number;
  readonly plan: StartPlan;
}

const KILL_OFTEN = [
  'before commit',
  'after commit',
  'ready',
  'between claim and post',
  'received',
  'answered',
] as const;

export function drawHistory(random: Random, stage: Stage, form: FormName): HistoryPlan {
  const kind = random.weighted<SceneKind>({ plain: 5, fallback: 3, shared: 3, tested: 2 });
  const scene = random.pick(stage.scenes(form, kind));
  const retryStatuses = random.chance(0.2) ? [503] : [];
  const shared = {
    attempts: random.pick([3, 3, 3, 1, 2, 4]),
    notAfterMs: random.chance(0.12) ? BEGINNING + Math.round(random.scale(20, 7_200_000)) : null,
    retryStatuses,
  };
  const count = random.weighted({ 1: 3, 2: 4, 3: 3, 4: 2, 5: 1 } as Record<string, number>);
  let edited = false;
  const starts = Array.from({ length: Number(count) }, (_, at) => {
    if (at > 0 && random.chance(0.15)) edited = true;
    const two = random.chance(0.08);
    const common = { ...shared, edited, onlyOwn: two, first: at === 0, kind };
    const plan = drawStart(random, { ...common, lock: two ? 'held' : random.chance(0.03) ? 'held' : 'none' });
    const beside = two
      ? {
          afterMs: Math.round(random.scale(0.5, 150)),
          plan: { ...drawStart(random, { ...common, lock: 'deleted' }), edited: edited || random.chance(0.1) },
        }
      : null;
    return { ...plan, beside };
  });
  return { scene, starts, retryStatuses, environments: ['test'] };
}

export interface Common
  extends Pick<StartPlan, 'attempts' | 'notAfterMs' | 'retryStatuses' | 'edited' | 'lock' | 'onlyOwn'> {
  /** Nothing was sent before it. */
  readonly first: boolean;
  readonly kind: SceneKind;
}

/** One start, whatever may happen to it. */
export function drawStart(random: Random, common: Common): StartPlan {
  const violent = random.chance(0.7);
  const retry = !common.first && random.chance(0.2) ? 'rejected' : null;
  const afterMs = (): number => random.scale(0.5, 3000);
  return {
    ...common,
    profile:
      PROFILES[
        random.weighted({
          good: 4,
          usual: 6,
          mixed: 5,
          throttling: 4,
          doubtful: 4,
          refusing: 2,
          unreachable: 2,
          down: 1,
          wrong: 2,
        })
      ],
    concurrency: random.pick([1, 2, 3, 4, 8, 16]),
    ratePerSecond: random.chance(0.2) ? random.pick([2, 10, 50, 200]) : null,
    limit: random.chance(0.1) ? random.whole(1, 12) : null,
    stopAfterInDoubt: random.chance(0.5) ? { count: 1000 } : random.chance(0.2) ? { share: 0.1 } : null,
    stopAfterRejected: random.chance(0.15) ? { count: random.whole(1, 8) } : null,
    ...UNGUARDED,
    allow: drawAllow(random),
    retry,
    unconfirmed: random.chance(0.02),
    kill: violent && random.chance(0.8) ? drawKill(random, common, retry) : null,
    killAfterMs: violent && random.chance(0.25) ? afterMs() : null,
    fault: random.chance(0.15) ? drawFault(random) : null,
    clockStepMs: random.chance(0.1) ? drawStep(random) : 0,
    clockStepAfter: random.chance(0.08) ? { ms: afterMs(), byMs: drawStep(random) } : null,
    interruptAfterMs: random.chance(0.12) ? afterMs() : null,
    secondSignalAfterMs: random.chance(0.05) ? afterMs() : null,
    suppressAfter: random.chance(0.15) ? { ms: afterMs(), share: random.next() } : null,
    winner: common.kind === 'tested' && random.chance(common.first ? 0.1 : 0.35) ? random.pick(WINNERS) : null,
  };
}

function drawAllow(random: Random): readonly Allowable[] {
  const skips = !random.chance(0.05);
  const takesChange = random.chance(0.8);
  const takesLate = random.chance(0.7);
  return [
    ...(skips ? (['invalid-rows'] as const) : []),
    ...(takesChange ? (['input-changed'] as const) : []),
    ...(takesLate ? (['too-late'] as const) : []),
  ];
}

const UNGUARDED = { tooShort: false, renamed: null, environment: 'test', ratedByEnvironment: false } as const;

/**
 * The same history with guards of its list, which some starts fail and some accept, and with new names of its campaign.
 * Drawn beside all else, so that the histories are those that they were without.
 */
export function withGuardsAndNames(history: HistoryPlan, random: Random): HistoryPlan {
  const guarded = <T extends StartPlan>(start: T): T => {
    const drawn = random.next();
    const renamed = drawn < 0.11 ? 'with-id' : drawn < 0.15 ? 'without-id' : null;
    if (!random.chance(0.12)) return { ...start, renamed };
    return {
      ...start,
      renamed,
      tooShort: true,
      allow: random.chance(0.4) ? [...start.allow, 'list-too-short'] : start.allow,
    };
  };
  const starts = history.starts.map((start) => {
    const { beside } = start;
    return { ...guarded(start), beside: beside === null ? null : { ...beside, plan: guarded(beside.plan) } };
  });
  return { ...history, starts };
}

/** Of some histories, the environments that send, drawn beside all else: mostly one. */
export function drawEnvironments(random: Random): HistoryPlan['environments'] {
  if (!random.chance(0.4)) return ['test'];
  return random.chance(0.7) ? ['test', 'backup'] : ['test', 'backup', 'spare'];
}

/** The same start from another environment, which may take the run over; some starts ask before they do. */
export function fromEnvironment<T extends StartPlan>(
  start: T,
  environments: HistoryPlan['environments'],
  random: Random,
): T {
  if (environments.length === 1) return start;
  const environment = random.pick(environments);
  const ratedByEnvironment = random.chance(0.3);
  return {
    ...start,
    environment,
    ratedByEnvironment,
    ratePerSecond: ratedByEnvironment ? ENVIRONMENTS[environment].lower : start.ratePerSecond,
    allow: [...start.allow, 'would-expire', ...(random.chance(0.85) ? (['other-provider'] as const) : [])],
  };
}

/** The same history where environments stand in for another one. */
export function withStandIns(history: HistoryPlan, random: Random): HistoryPlan {
  const environments = drawEnvironments(random);
  const starts = history.starts.map((start) => {
    const { beside } = start;
    const plan = beside === null ? null : fromEnvironment(beside.plan, environments, random);
    return {
      ...fromEnvironment(start, environments, random),
      beside: beside === null || plan === null ? null : { ...beside, plan },
    };
  });
  return { ...history, starts, environments };
}

function drawKill(random: Random, common: Common, retry: StartPlan['retry']): StartPlan['kill'] {
  if (random.chance(0.35)) {
    const loads = common.first || common.edited ? (['beginLoad', 'load', 'discardLoad'] as const) : [];
    const once: [Operation, ...Operation[]] = ['open', 'start', 'start', 'finish', ...loads];
    if (common.first) once.push('finishLoad', 'finishLoad');
    else if (common.edited) once.push('amend', 'amend');
    if (retry !== null) once.push('reopenRejected');
    if (common.kind === 'tested') once.push('setWinner', 'defer');
    return { site: `${random.pick(['before', 'after'])} ${random.pick(once)}`, nth: 1 };
  }
  return { site: random.pick(KILL_OFTEN), nth: Math.round(random.scale(1, 16)) };
}

function drawFault(random: Random): Fault {
  const kind = random.weighted<FaultKind>({ full: 4, 'io-write': 2, 'io-fsync': 3, busy: 3, readonly: 1, corrupt: 1 });
  const operation = random.weighted<Operation>({
    commit: 14,
    start: 1,
    finish: 2,
    beginLoad: 1,
    load: 1,
    finishLoad: 1,
    skip: 1,
    defer: 1,
    setWinner: 1,
    amend: 1,
  });
  const word = kind === 'busy' || random.chance(0.1) ? 'begin' : 'commit';
  return {
    kind,
    word,
    operation,
    first: operation === 'commit' ? Math.round(random.scale(1, 25)) : 1,
    times: random.pick([1, 2, 1000]),
    doneAllTheSame: kind === 'io-fsync' && random.chance(0.5),
  };
}

/** Within what time servers do, within hours as people do, or more than a day. */
function drawStep(random: Random): number {
  const sign = random.chance(0.5) ? 1 : -1;
  return Math.round(sign * random.pick([random.scale(100, 240_000), random.scale(400_000, 7_200_000), 90_000_000]));
}

/** A start with which everything goes well. */
export function goodStart(
  edition: Edition,
  common: Pick<StartPlan, 'retryStatuses' | 'edited' | 'notAfterMs' | 'winner'> &
    Partial<Pick<StartPlan, 'environment'>>,
): StartPlan {
  return {
    profile: PROFILES.good,
    concurrency: Math.min(4, edition.rows),
    attempts: 3,
    ratePerSecond: null,
    limit: null,
    stopAfterInDoubt: null,
    stopAfterRejected: null,
    ...UNGUARDED,
    ...common,
    allow: ['invalid-rows', 'input-changed', 'too-late', 'other-provider'],
    retry: null,
    unconfirmed: false,
    // Only who holds the lock knows that no other process will record what is still claimed.
    lock: 'held',
    onlyOwn: false,
    kill: null,
    killAfterMs: null,
    fault: null,
    clockStepMs: 0,
    clockStepAfter: null,
    interruptAfterMs: null,
    secondSignalAfterMs: null,
    suppressAfter: null,
  };
}
