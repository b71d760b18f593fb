import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostgres } from '../../src/util/ledger-address.ts';
import type { CliResult } from '../helpers/cli.ts';
import { FORMS, type FormName, formOf } from '../oracle/forms.ts';
import { readReceipts } from '../oracle/receipts.ts';
import type { Scene } from '../oracle/scene.ts';
import { type Address, type KillsApi, startSandboxApi } from './api.ts';
import { createKillsScene, type Kind, mostInFlight } from './campaign.ts';
import { badEnd, crashed, damage, receivedOf } from './checks.ts';
import { hasFinished, judgeFinished, SEND, sendUntilFinished } from './finish.ts';
import { createGauge, type Gauge, type Moment, pickMoment, type Watched, waitForInstant } from './instants.ts';
import { createRandom, type Random } from './random.ts';

/** One run that is killed several times, as its seed decides. The instants themselves depend on the machine. */
export interface RoundPlan {
  readonly seed: number;
  readonly kills: number;
  readonly rows: number;
  readonly concurrency: number;
  readonly latencyMs: number;
  readonly api: 'sandbox' | 'faulty';
  /** Thousandths of the recipients. */
  readonly faults: number;
  /** Look into the ledger after each kill; else nothing but the next start ever touches what a kill left. */
  readonly looks: boolean;
  /** What campaign.yaml says under `limits`. */
  readonly limits?: string;
  /** What is sent; default: an SMS for each. */
  readonly kind?: Kind;
  /** How the API is spoken to. */
  readonly form: FormName;
}

export interface RoundResult {
  readonly plan: RoundPlan;
  readonly kills: number;
  readonly moments: readonly Moment[];
  readonly starts: number;
  /** Rows in doubt after kills, and how many of them had been received. */
  readonly doubts: number;
  readonly received: number;
  /** Statuses of answers in the receipts, with how often; `none` where there was no answer. */
  readonly answers: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  /** A copy of the project, when something speaks against the promise. */
  readonly kept: string | null;
}

/** What a seed decides, but for what is given instead. */
export function planRound(seed: number, given: Partial<RoundPlan> = {}): RoundPlan {
  const random = createRandom(seed);
  // That of the sandbox has the form of messages-v2.
  const form = given.form ?? formOf(seed);
  const api = random.chance(1 / 3) && form === 'messages-v2' ? 'sandbox' : 'faulty';
  return {
    seed,
    kills: random.between(4, 8),
    rows: random.between(150, 250),
    concurrency: random.between(8, 16),
    // As real ones take. A kill meets a claim that is not on its way yet for as long as a commit takes, so that with fast
    // answers more of the doubts were never received: 8 to 13% with 40 ms on a busy machine.
    latencyMs: random.between(40, 120),
    api,
    faults: api === 'sandbox' ? 0 : random.pick([0, 20, 50, 100]),
    looks: random.chance(0.5),
    form,
    ...given,
  };
}

/** Kills a run as planned (at most `most` times), brings it to its end and judges it. */
export async function playRound(plan: RoundPlan, api: KillsApi, most = Number.POSITIVE_INFINITY): Promise<RoundResult> {
  const address = await addressFor(plan, api);
  const { rows, concurrency } = plan;
  const shared = api.freshLedger === undefined ? {} : { ledger: await api.freshLedger() };
  const more = { ...limitsOf(plan), ...shared, kind: kindOf(plan) };
  using scene = createKillsScene({ address, rows, concurrency, timeout: '1s', ...more });
  try {
    return await killAndJudge(
      plan,
      { scene, address, gauge: createGauge(address.receipts), startMs: 450 },
      Math.min(plan.kills, most),
    );
  } finally {
    await address.close();
  }
}

function limitsOf({ limits }: RoundPlan): { readonly limits?: string } {
  return limits === undefined ? {} : { limits };
}

function kindOf({ kind = 'sms' }: RoundPlan): Kind {
  return kind;
}

async function addressFor(plan: RoundPlan, api: KillsApi): Promise<Address> {
  if (plan.api === 'sandbox') return await startSandboxApi(plan.latencyMs);
  const { latencyMs, faults } = plan;
  // A few of those who cannot receive RCS, so that the list is not given up; and few doubts beside those of kills.
  const kind = kindOf(plan);
  const several = kind === 'sms' ? {} : { unsupported: 300, partial: 20 };
  return await api.addressOf(`s${plan.seed}-${kind}`, {
    latencyMs,
    faults,
    busyNumber: 0,
    form: plan.form,
    ...several,
  });
}

interface Stage {
  readonly scene: Scene;
  readonly address: Address;
  readonly gauge: Gauge;
  /** From the start of a process to its first request, as last seen: it depends on what else the machine does. */
  startMs: number;
}

async function killAndJudge(plan: RoundPlan, stage: Stage, most: number): Promise<RoundResult> {
  const { scene, address } = stage;
  const { ends, moments, found } = await killAgainAndAgain(plan, stage, most);
  const last = ends.at(-1);
  try {
    if (last === undefined || !hasFinished(last)) ends.push(...(await sendUntilFinished(scene)));
    const kind = kindOf(plan);
    const mostCrashes = moments.length * mostInFlight(plan.concurrency, kind);
    const steps = kind === 'sms' || !FORMS[plan.form].hasRcs ? 1 : 2;
    found.push(...(await judgeFinished({ scene, ends, mostCrashes, bodies: kind !== 'shared', steps })));
  } catch (error) {
    found.push(error instanceof Error ? error.message : String(error), ...ends.flatMap((end) => [...badEnd(end)]));
  }
  const receipts = readReceipts(address.receipts);
  const doubts = crashed(scene.endings());
  return {
    plan,
    kills: moments.length,
    moments,
    starts: ends.length,
    doubts: doubts.length,
    received: receivedOf(doubts, receipts),
    answers: counted(receipts.map(({ status }) => String(status ?? 'none'))),
    violations: [...new Set(found)],
    kept: found.length > 0 ? keep(scene, address) : null,
  };
}

interface Killed {
  /** How each start ended. */
  readonly ends: CliResult[];
  /** What those were doing that were killed. */
  readonly moments: Moment[];
  readonly found: string[];
}

/** Start after start, until so many were killed, or the run is finished before. */
async function killAgainAndAgain(plan: RoundPlan, stage: Stage, most: number): Promise<Killed> {
  const random = createRandom(plan.seed ^ 0x5eed);
  const ends: CliResult[] = [];
  const moments: Moment[] = [];
  const found: string[] = [];
  let known = 0;
  while (moments.length < most && ends.length < 2 * most) {
    const moment = pickMoment(random);
    const end = await killOnce(plan, stage, moment, { random, left: most - moments.length });
    ends.push(end);
    if (hasFinished(end) || [...badEnd(end)].length > 0) break;
    // It may have ended before its instant came.
    if (end.signal !== 'SIGKILL') continue;
    moments.push(moment);
    if (!plan.looks) continue;
    const looked = look(stage, known, mostInFlight(plan.concurrency, plan.kind));
    known = looked.crashes;
    found.push(...looked.found);
  }
  return { ends, moments, found };
}

/** Requests of the whole run, about: with fallbacks, and with requests that are split. */
function requestsOf({ rows, kind = 'sms' }: RoundPlan): number {
  return Math.round({ sms: 1, fallback: 1.3, shared: 0.7 }[kind] * rows);
}

interface Aim {
  readonly random: Random;
  /** Kills that are still to come in this round, this one included. */
  readonly left: number;
}

/** One start that is killed at an instant of `moment`, unless it ends before. */
async function killOnce(plan: RoundPlan, stage: Stage, moment: Moment, aim: Aim): Promise<CliResult> {
  const { scene, gauge } = stage;
  const began = performance.now();
  const child = scene.start(SEND);
  let ended = false;
  void child.done.then(() => {
    ended = true;
  });
  const share = plan.latencyMs / plan.concurrency;
  const all = requestsOf(plan);
  const left = Math.max(0, all - gauge.requests());
  const watched: Watched = {
    hasEnded: () => ended,
    onRequest: () => {
      stage.startMs = performance.now() - began;
    },
    ledgerLog: `${scene.ledger}-wal`,
    requests: gauge.requests,
    // The last ones are in flight or being recorded.
    nearlyAll: all - 2,
    wholeMs: stage.startMs + left * share,
    // So that the list lasts for the kills to come.
    sendingMs: (2 * left * share) / (aim.left + 1),
  };
  // Nothing shows from outside when a shared ledger is made.
  const instant = await waitForInstant(
    moment === 'opening' && isPostgres(scene.ledger) ? 'anytime' : moment,
    watched,
    aim.random,
  );
  if (instant) child.kill('SIGKILL');
  return await child.done;
}

interface Looked {
  readonly crashes: number;
  readonly found: readonly string[];
}

/** What a kill left, before another process touches it. */
function look({ scene, address }: Stage, known: number, most: number): Looked {
  const endings = scene.endings();
  const crashes = crashed(endings).length;
  const found: string[] = [];
  if (crashes - known > most) found.push(`one kill left ${crashes - known} in doubt, more than ${most}`);
  // A kill may come before there is a run, or even a ledger.
  if (endings.length > 0) found.push(...scene.violations(), ...damage(scene.ledger));
  else if (readReceipts(address.receipts).length > 0) found.push('a recipient was sent to before the list was loaded');
  return { crashes, found };
}

function keep(scene: Scene, { receipts }: Address): string {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-kills-kept-'));
  cpSync(scene.root, folder, { recursive: true });
  if (existsSync(receipts)) cpSync(receipts, join(folder, 'receipts.jsonl'));
  return folder;
}

function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** A list as large as campaigns get, with stop rules that do not end it. The seed is given with it. */
export const LARGE: Omit<RoundPlan, 'seed'> = {
  form: 'messages-v2',
  kills: 10,
  rows: 100_000,
  concurrency: 64,
  latencyMs: 3,
  api: 'faulty',
  faults: 50,
  looks: false,
  limits: '{ stopAfter: { inDoubt: 100000 } }',
};
