import { join } from 'node:path';
import { loadCampaign } from '../campaign/load.ts';
import { type Diagnostic, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { type RunRecord, runName, type Share, type WorkerFacts, type WorkerStore } from '../ledger/records.ts';
import type { Project } from '../model.ts';
import { listInput } from '../plan/check.ts';
import { openReachToSend } from '../plan/contact-history.ts';
import { loadPrices } from '../plan/estimate.ts';
import { createPlan, rateOf } from '../plan/plan.ts';
import { changedInputs, isStanding, parsePlanFile } from '../plan/plan-file.ts';
import { readProjectProvenance, readProvenance, refuseOtherCommit } from '../plan/provenance.ts';
import { identityHash } from '../plan/settings.ts';
import { standingInputs } from '../plan/standing-inputs.ts';
import { checkHashKey } from '../plan/suppression.ts';
import { hashList } from '../recipients/read.ts';
import { number } from '../report/words.ts';
import { refuseOtherSeal } from '../send/approved.ts';
import type { RunEvent } from '../send/event.ts';
import { needsShared, type WorkerShown, listWorkers as workersOf } from '../send/list-workers.ts';
import { createMemory, type Memory } from '../send/memory.ts';
import type { ShardQueue } from '../send/shard-queue.ts';
import { finishShared, openPart, shareOf } from '../send/sharing.ts';
import type { PreparedStart } from '../send/start.ts';
import type { Answers } from '../send/stop.ts';
import { againMs, TIMERS } from '../send/timers.ts';
import { openWork } from '../send/work.ts';
import { isPostgres, shownLedger } from '../util/ledger-address.ts';
import {
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import { projectHere } from './project.ts';
import { howListsAreRead, thisWorker, untilAborted } from './send-once.ts';
import { SEND } from './send-options.ts';
import { recalledText } from './warnings.ts';

export const WORKER = {
  environment: { ...OPTIONS.environment, says: 'environment of handbill.yaml whose runs it works on' },
  concurrency: SEND.concurrency,
  idleMs: {
    flag: '--idle <time>',
    says: 'end after so long without work',
    inHelp: ' (default: never)',
    more: 'In ms.',
    without: 'never',
    kind: 'duration',
    range: [0, Number.MAX_SAFE_INTEGER],
  },
} as const satisfies OptionTable;

/** The runs that a worker takes, its concurrency, and its end. */
export interface WorkerOptions extends ProjectOptions, OptionsOf<typeof WORKER> {
  /** Ends it in good order: requests in flight are awaited and recorded, the rest goes to others. Default: nothing does. */
  readonly signal?: AbortSignal;
  /** Cuts off what is in flight too: recipients of those requests are in doubt. Default: no signal. */
  readonly cutSignal?: AbortSignal;
  /** Called with a line for what it begins and ends, and for what goes wrong; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
  /** @internal */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/**
 * `handbill worker`: works on the runs that others share (`send` with `workers`) through a shared ledger. Resolves when
 * it is stopped, or had nothing to do for `idleMs`; while the ledger cannot be reached, it waits.
 *
 * @throws HandbillError exit 2 (the ledger is a file, a project file that is wrong), 7 (a ledger that waiting cannot
 * mend)
 */
export async function runWorker(options: WorkerOptions = {}): Promise<void> {
  const resolved = withDefaults(options, WORKER);
  const { env, environment = 'sandbox', signal = new AbortController().signal } = resolved;
  const onEvent = (event: WorkerEvent): void => {
    const text = workerText(event);
    if (text !== null) resolved.log?.(text);
    resolved.onEvent?.(event);
  };
  const { project } = projectHere(resolved);
  const known = project.environments.get(environment);
  if (known?.git) refuseOtherCommit(known, await readProjectProvenance(project, env));
  if (!isPostgres(project.ledger)) throw needsShared('Workers need a shared ledger; this one is a file.');
  const running: Running = {
    options: { ...resolved, environment, signal, onEvent },
    project,
    worker: thisWorker(env),
    leftAlone: new Map(),
    memory: createMemory(),
    busyAt: TIMERS.monotonicMs(),
  };
  let last: LedgerError | null = null;
  let wasReached = false;
  for (let tries = 0; !signal.aborted && !isIdle(running); ) {
    try {
      await connected(running, () => {
        tries = 0;
        wasReached = true;
      });
    } catch (error) {
      if (!(error instanceof LedgerError) || error.kind === 'other' || error.kind === 'corrupt') throw error;
      last = error;
      onEvent({ kind: 'ledger-lost', error });
      await TIMERS.sleep(againMs(tries), signal);
      tries += 1;
    }
  }
  // It had nothing to do because it never saw anything.
  if (!wasReached && !signal.aborted && last !== null) throw last;
}

/**
 * `handbill worker list`: workers of a shared ledger and their runs; none where nothing was ever sent.
 *
 * @throws HandbillError exit 2 (the ledger is a file, a project file that is wrong), 7 (ledger)
 */
export async function listWorkers(options: ProjectOptions = {}): Promise<readonly WorkerShown[]> {
  const resolved = withDefaults(options);
  const { project } = projectHere(resolved);
  using ledger = openExistingLedger(project.ledger, { nowMs: resolved.now() });
  return ledger === null ? [] : workersOf(ledger);
}

export type WorkerEvent =
  | RunEvent
  | { readonly kind: 'joined'; readonly worker: WorkerFacts; readonly ledger: string }
  | { readonly kind: 'finished'; readonly run: RunRecord }
  | { readonly kind: 'share-ended'; readonly run: RunRecord; readonly share: Share }
  | { readonly kind: 'leaves-alone'; readonly run: RunRecord; readonly error: HandbillError };

/** A line for a log, without an address; null: the log has none. */
export function workerText(event: WorkerEvent): string | null {
  switch (event.kind) {
    case 'joined':
      return `Process ${event.worker.pid} on ${event.worker.host} waits for runs on ${shownLedger(event.ledger)}.`;
    case 'started':
      return `${runName(event.run)}: begins.`;
    case 'share-ended': {
      const { posted, accepted, rejected, failed, inDoubt } = event.share;
      const rest = [
        [rejected, 'rejected'],
        [failed, 'failed'],
        [inDoubt, 'in doubt'],
      ] as const;
      const more = rest.flatMap(([count, word]) => (count === 0 ? [] : [`, ${number(count)} ${word}`])).join('');
      return `${runName(event.run)}: ends, with ${number(posted)} requests made here: ${number(accepted)} accepted${more}.`;
    }
    case 'finished':
      return `${runName(event.run)}: its \`send\` is gone, and nothing is left to do.`;
    case 'leaves-alone':
      return `${runName(event.run)}: is left to others.`;
    case 'recalled':
      return `${runName(event.run)}: ${recalledText(event)}`;
    case 'ledger-lost':
      return 'The ledger is lost; it is tried again.';
    default:
      return null;
  }
}

const LOOK_MS = 500;
/** In ms. By then, files that differed may be up to date. */
const AGAIN_MS = 30_000;

interface Running {
  readonly options: WorkerOptions &
    ResolvedOptions & {
      readonly environment: string;
      readonly signal: AbortSignal;
      readonly onEvent: (event: WorkerEvent) => void;
    };
  /** The run has the path of its campaign below its root. */
  readonly project: Pick<Project, 'root' | 'ledger'>;
  readonly worker: WorkerFacts;
  /** Runs that this worker leaves to others, until when. */
  readonly leftAlone: Map<string, number>;
  readonly memory: Memory;
  /** Time of the last work, by the monotonic clock. */
  busyAt: number;
}

interface Open extends Running {
  readonly ledger: Ledger;
  readonly workers: WorkerStore;
  readonly queue: ShardQueue;
}

function isIdle({ options, busyAt }: Running): boolean {
  return options.idleMs !== undefined && TIMERS.monotonicMs() - busyAt >= options.idleMs;
}

/** From the connection to the ledger to its loss, or to the end. */
async function connected(running: Running, onOpen: () => void): Promise<void> {
  const { options, worker } = running;
  const address = running.project.ledger;
  const recall = (ledger: Ledger): void => {
    for (const said of running.memory.recall(ledger, options.now())) options.onEvent({ kind: 'recalled', ...said });
  };
  const ledger = openLedger(address, { mode: 'write', nowMs: options.now(), witness: recall });
  let queue: ShardQueue | null = null;
  try {
    const { workers } = ledger;
    if (workers === null) throw new Error('a shared ledger has workers');
    const { openQueue } = await import('../send/shard-queue.ts');
    queue = await openQueue(address);
    recall(ledger);
    // The shards that this process had before it lost the ledger are free for every worker now.
    workers.leave(worker.id);
    workers.join(worker);
    onOpen();
    options.onEvent({ kind: 'joined', worker, ledger: ledger.path });
    await serve({ ...running, ledger, workers, queue }, running);
    workers.leave(worker.id);
  } finally {
    await queue?.close().catch(() => undefined);
    ledger.close();
  }
}

async function serve(open: Open, running: Running): Promise<void> {
  const { options, workers, worker } = open;
  while (!options.signal.aborted && !isIdle(running)) {
    workers.beat(worker);
    endOrphans(open);
    const found = await nextOffer(open);
    if (found === null) {
      await TIMERS.sleep(LOOK_MS, options.signal);
      continue;
    }
    await workOn(open, running, found.run, found.shard);
    running.busyAt = TIMERS.monotonicMs();
  }
}

/** Ends runs that have nothing left to do, and whose `send` has died. */
function endOrphans({ ledger, workers, options }: Open): void {
  for (const run of workers.finished()) {
    if (ledger.isHeld(run)) continue;
    const lock = ledger.lock(run);
    if (lock === null) continue;
    try {
      const ended = finishShared(ledger, workers, run, options.now());
      if (ended !== null) options.onEvent({ kind: 'finished', run: ended });
    } finally {
      lock.release();
    }
  }
}

async function nextOffer({ options, workers, queue, leftAlone }: Open) {
  for (const run of workers.shared()) {
    // Workers take the runs that their own environment sends: a stand-in sends runs of its original.
    if (
      (run.postedFrom ?? run.environment) !== options.environment ||
      (leftAlone.get(nameOf(run)) ?? 0) > TIMERS.monotonicMs()
    )
      continue;
    const shard = await queue.take(run);
    if (shard !== undefined) return { run, shard };
    // The process that began the run, and looks for dead workers, may have died itself.
    const opened = workers.reopen(run, true, options.now());
    if (opened.length > 0) await queue.offer(run, opened, true);
  }
  return null;
}

function nameOf({ number, starts }: RunRecord): string {
  return `${number} ${starts}`;
}

async function workOn(open: Open, running: Running, run: RunRecord, shard: number): Promise<void> {
  const { options, ledger, workers, worker, queue } = open;
  const { onEvent, now, signal, cutSignal } = options;
  const facts = workers.facts(run);
  if (facts === null) return;
  // Reads the facts that `send --workers` wrote (operations/send-once.ts, send/sharing.ts).
  const session = await openSession(run, facts as unknown as RunFacts, open).catch((error: unknown) => {
    if (!(error instanceof HandbillError) || error instanceof LedgerError) throw error;
    return error;
  });
  if (session instanceof HandbillError) {
    leaveAlone(open, run, session);
    // Another worker may have the right files.
    await queue.offer(run, [shard], true);
    return;
  }
  const { api, before } = session;
  const start: PreparedStart = { ...session.start, onEvent, interrupt: signal };
  const part = openPart({ ledger, workers, worker, run, queue, now, timers: TIMERS });
  onEvent({ kind: 'begins', target: run.name, environment: options.environment });
  onEvent({ kind: 'planned', plan: start.plan });
  await untilAborted(api, start, cutSignal, async () => {
    onEvent({ kind: 'started', run, ledger: ledger.path, toDo: null, commit: null });
    const remembered = running.memory.of(run, ledger);
    const one = await openWork(start, run, api, before, remembered, part.shared);
    part.begin(one);
    await part.walk(one, shard).catch((error: unknown) => one.fail(error));
    await one.groupCommit.flush();
    await part.rest(one);
    one.end();
    onEvent({ kind: 'share-ended', run, share: shareOf(one.progress, one.stop) });
    remembered.unwritten.push(...one.groupCommit.unwritten);
    const failure = one.groupCommit.failure ?? one.trouble;
    const isOfRun = failure instanceof HandbillError && !(failure instanceof LedgerError && failure.kind !== 'other');
    // In its files, or its list was replaced.
    if (isOfRun) leaveAlone(open, run, failure);
    else if (failure !== null) throw failure;
  });
}

function leaveAlone({ options, leftAlone }: Open, run: RunRecord, error: HandbillError): void {
  leftAlone.set(nameOf(run), TIMERS.monotonicMs() + AGAIN_MS);
  options.onEvent({ kind: 'leaves-alone', run, error });
}

/** Facts from the process that shares a run, in addition to the ledger and the files. */
interface RunFacts {
  readonly recipients: string | null;
  readonly ratePerSecond: number | null;
  readonly planFile: string | null;
  readonly before: Omit<Answers, 'inDoubt'>;
}

/** Reads the campaign from files here. Throws exit 2 if they differ from the run's, or sending lacks something. */
async function openSession(run: RunRecord, facts: RunFacts, { options, project, ledger }: Open) {
  const { cwd, env, now } = options;
  const { recipients } = facts;
  const file = run.inputs.find(({ role }) => role === 'campaign')?.file ?? run.name;
  const { campaign } = await loadCampaign(join(project.root, file), {
    cwd,
    env,
    ledger: project.ledger,
    ...(recipients === null ? {} : { recipients }),
  });
  const { environment, occurrence } = run;
  const plan = await createPlan(campaign, { environment, occurrence, nowMs: now(), run });
  if (plan.environment.git !== null) refuseOtherCommit(plan.environment, await readProvenance(campaign, env));
  const list = await hashList(campaign.recipients);
  const changes = changedInputs(run.inputs, [...plan.inputs, listInput(plan, list)], 'the run began');
  const isOther = run.identityHash !== identityHash(campaign) || run.channel !== campaign.channel;
  if (changes.length > 0 || isOther) throw refuse(...differs(run, changes));
  // Each worker checks the approval that an environment needs by itself.
  const planFile = facts.planFile === null ? null : parsePlanFile(facts.planFile, 'the plan of the run');
  if (planFile !== null && 'code' in planFile) throw refuse(planFile);
  if (planFile !== null && isStanding(planFile)) refuseOtherSeal(planFile, standingInputs(plan));
  const concurrency = options.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  const { prepareApi } = await import('../send/api.ts');
  const openApi = await prepareApi({ plan, env, connections: concurrency, planFile, now });
  const prices = loadPrices(campaign.project);
  const listsAgain = await howListsAreRead(campaign, { cwd, env, now });
  const suppressions = await listsAgain.read();
  checkHashKey(suppressions, ledger);
  const reached = await openReachToSend(plan, ledger, now());
  const api = await openApi();
  const start = {
    plan,
    ledger,
    list,
    reached,
    suppressions,
    listsAgain,
    prices,
    concurrency,
    ratePerSecond: rateOf(plan, facts.ratePerSecond),
    now,
    random: Math.random,
  };
  return { start, before: facts.before, api };
}

function differs({ id }: RunRecord, changes: readonly Diagnostic[]): readonly Diagnostic[] {
  const hint = `Give this machine the files that ${id} began with: the same commit, and the same list.`;
  if (changes.length > 0) return changes.map((change) => ({ ...change, hint }));
  return [problem('identity-changed', `The campaign is not the one that ${id} began with.`, { hint })];
}
