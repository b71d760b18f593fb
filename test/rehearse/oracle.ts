import { utimesSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { Endpoint } from '../../src/http/connect.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../../src/ledger/open.ts';
import { type DueItem, type DueOptions, due } from '../../src/operations/due.ts';
import { pauseSending } from '../../src/operations/pause.ts';
import { rehearse } from '../../src/operations/rehearse.ts';
import { addSuppressions } from '../../src/operations/suppress-change.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { instantOf } from '../../src/schedule/occurrence.ts';
import { openAccepting } from '../../src/send/rehearsal.ts';
import { TIMERS } from '../../src/send/timers.ts';
import { createVirtualTime } from '../../src/send/virtual-time.ts';
import { createProject } from '../helpers/project.ts';
import { type Api, startApi } from '../processes/api.ts';
import { DAY, type Drawn, drawProject } from './projects.ts';

/** The API of these proofs: it accepts every message, but for the time before a rehearsal. */
export interface OracleApi extends AsyncDisposable {
  readonly url: string;
  /** What it says to the next requests, by their number from 1; default: 202. */
  answer(status?: (request: number) => number): void;
}

export async function startOracleApi(): Promise<OracleApi> {
  let status: (request: number) => number = () => 202;
  let received = 0;
  const api: Api = await startApi(() => {
    received += 1;
    return { status: status(received) };
  });
  return {
    url: api.url,
    answer(given = () => 202) {
      status = given;
      received = 0;
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

export interface Compared {
  readonly drawn: Drawn;
  /** What happened in the played days, by kind: so much was compared. */
  readonly counts: ReadonlyMap<string, number>;
  /** Lines that only one of the two has. */
  readonly differences: readonly string[];
}

/**
 * Rehearses a project, then calls the real `due` at each tick of the same days, against a server that accepts all.
 *
 * @param days - at most
 */
export async function compare(seed: number, api: OracleApi, days: number): Promise<Compared> {
  const drawn = drawProject(seed, api.url, days);
  const { files, agesMs, history, suppressed, reports, paused, startMs, everyMs } = drawn;
  using project = createProject(files);
  for (const [path, ageMs] of Object.entries(agesMs)) {
    const seconds = (startMs - ageMs) / 1000;
    utimesSync(project.path(path), seconds, seconds);
  }
  const given = { cwd: project.root, env: { HANDBILL_TEST_KEY: 'key-for-tests-only' } } as const;
  const call = (atMs: number) =>
    due([], { ...given, environment: 'test', confirm: true, now: () => atMs, random: () => 0.5 });
  for (const { atMs, status } of history) {
    api.answer(status);
    if (drawn.isPaced) await callWithoutWaits(given, atMs, status);
    else await call(atMs);
  }
  api.answer();
  const now = () => startMs;
  for (const { address, ...facts } of suppressed) await addSuppressions([address], { ...given, now, ...facts });
  if (reports.length > 0) {
    using ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: startMs });
    ledger.events.record(reports, { nowMs: startMs, source: 'webhook', environment: 'test' });
  }
  if (paused !== null) {
    const campaign = paused === '' ? {} : { campaign: paused };
    await pauseSending({ ...given, now, environment: 'test', reason: 'for a test', by: 'ann', ...campaign });
  }
  let played: readonly string[] = [];
  const said = await rehearse([], {
    ...given,
    now,
    environment: 'test',
    days: drawn.days,
    everyMs,
    onPlayed: (ledger) => {
      played = rowsOf(ledger);
    },
  });
  const untilMs = Date.parse(said.until);
  const items: DueItem[] = [];
  const ticks: number[] = [];
  for (let atMs = Math.ceil(startMs / everyMs) * everyMs; atMs < untilMs; atMs += everyMs) ticks.push(atMs);
  if (drawn.isPaced) items.push(...(await callInVirtualTime(given, ticks, startMs)));
  else for (const atMs of ticks) items.push(...(await call(atMs)).items);
  const unsent = said.occurrences.flatMap(({ campaign, occurrence, state, begins, diagnostics }) => {
    if (state !== 'missed' && state !== 'refused') return [];
    const codes = codesOf(diagnostics);
    // One that a pause kept back until it was too late, which `unsentOf` counts as refused as well.
    const isRefused = state === 'refused' || codes.length > 0 || diagnostics.some(({ code }) => code === 'paused');
    return [{ campaign, occurrence, isRefused, begins, first: codes, all: codes }];
  });
  const rows = ledgerRows(project.path('.handbill/ledger.db'), untilMs);
  // A run that began before these days and cannot go on is in the ledger: its rows say what became of it.
  const really = unsentOf(items, startMs).filter(
    ({ campaign, occurrence }) => !rows.some((row) => row.startsWith(`run ${campaign} ${occurrence} `)),
  );
  const left = [...played, ...unsent.map(unsentLine)];
  const right = [...rows, ...really.map(unsentLine)];
  const differences = [
    ...left.filter((line) => !right.includes(line)).map((line) => `rehearse: ${line}`),
    ...right.filter((line) => !left.includes(line)).map((line) => `due:      ${line}`),
    ...unsent.flatMap((one) => otherCodes(one, really)),
  ];
  return { drawn, counts: countsOf(right), differences };
}

/** One call of `due` whose waits for a rate are over at once: in real time, ten messages an hour would take hours. */
async function callWithoutWaits(
  given: Pick<DueOptions, 'cwd' | 'env'>,
  atMs: number,
  status: (request: number) => number,
): Promise<void> {
  let waitedMs = 0;
  let received = 0;
  const rehearsal = {
    timers: {
      ...TIMERS,
      monotonicMs: () => TIMERS.monotonicMs() + waitedMs,
      sleep: async (ms: number) => {
        waitedMs += ms;
        await turn();
      },
    },
    pauseLookMs: DAY,
    open: (plan: Plan) => {
      const api = openAccepting(plan, () => undefined);
      const post: Endpoint['post'] = async (...request) => {
        const attempt = await api.endpoint.post(...request);
        received += 1;
        return { ...attempt, status: status(received) };
      };
      return { ...api, endpoint: { ...api.endpoint, post } };
    },
  };
  await due([], { ...given, environment: 'test', confirm: true, now: () => atMs, random: () => 0.5, rehearsal });
}

/**
 * Where a rate holds messages back, a real clock would take days. `due` is called at each tick of a virtual one, also
 * while an earlier call still sends, and its API accepts everything: what `rehearse` leaves out are only calls.
 */
async function callInVirtualTime(
  given: Pick<DueOptions, 'cwd' | 'env'>,
  ticks: readonly number[],
  startMs: number,
): Promise<readonly DueItem[]> {
  const time = createVirtualTime(startMs);
  const items: DueItem[] = [];
  const failures: unknown[] = [];
  const { signal } = new AbortController();
  for (const atMs of ticks) {
    time.at(atMs, () => {
      const rehearsal = {
        timers: time.timers,
        pauseLookMs: DAY,
        open: (plan: Plan) => openAccepting(plan, time.pass()),
      };
      const facts = { ...given, environment: 'test', confirm: true, signal, random: () => 0.5, rehearsal };
      time
        .hold(async () => await due([], { ...facts, now: () => time.nowMs, allow: ['reports-stale'] }))
        .then(
          (result) => items.push(...result.items),
          (error: unknown) => failures.push(error),
        );
    });
  }
  await time.play((ticks.at(-1) ?? startMs) + 1, signal);
  if (failures.length > 0) throw failures[0];
  return items;
}

function ledgerRows(path: string, nowMs: number): readonly string[] {
  using ledger = openExistingLedger(path, { nowMs });
  return ledger === null ? [] : rowsOf(ledger);
}

/** Every run and every row of it. */
function rowsOf(ledger: Ledger): readonly string[] {
  return ledger.runs().flatMap((run) => {
    const name = `${run.campaign} ${run.occurrence}`;
    const began = [run.createdAtMs, run.startedAtMs].map(instantText).join(' ');
    const facts = [run.state, run.halt?.rule ?? '-', run.winner ?? '-', `began ${began}`];
    return [
      `run ${name} ${facts.join(' ')}`,
      ...[...ledger.outcomes(run)].flat().map((row) => {
        const { line, key, channel, variant, outcome, reason, parts, cost, claimedAtMs } = row;
        const [what, when] = [`${outcome} ${reason ?? '-'}`, instantText(claimedAtMs ?? null)];
        return `row ${name} ${what} line ${line} ${key} ${channel} ${variant} ${parts} ${cost} at ${when}`;
      }),
    ];
  });
}

/** To the second, as virtual time goes: a group of claims waits for a few ms. */
function instantText(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().slice(0, 19);
}

interface Unsent {
  readonly campaign: string | null;
  readonly occurrence: string;
  /** Else it is missed. */
  readonly isRefused: boolean;
  readonly begins: string | null;
  /** Codes of errors of the first refusal, and of all of them. */
  readonly first: readonly string[];
  readonly all: readonly string[];
}

function codesOf(diagnostics: DueItem['diagnostics']): readonly string[] {
  return [...new Set(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code))].sort();
}

function unsentLine({ campaign, occurrence, isRefused, begins }: Unsent): string {
  return `unsent ${campaign} ${occurrence} ${isRefused ? 'refused' : 'missed'} ${begins ?? '-'}`;
}

/** Calls after the first refusal may find more reasons, because the list gets older: rehearse asks less often. */
function otherCodes({ campaign, occurrence, all }: Unsent, really: readonly Unsent[]): readonly string[] {
  const real = really.find((one) => one.campaign === campaign && one.occurrence === occurrence);
  if (real === undefined) return [];
  const isSame = real.first.every((code) => all.includes(code)) && all.every((code) => real.all.includes(code));
  const texts = [all, real.first, real.all].map((codes) => codes.join('+') || '-');
  return isSame ? [] : [`codes ${campaign} ${occurrence}: rehearse ${texts[0]}, due ${texts[1]} and then ${texts[2]}`];
}

/**
 * Occurrences of which no message went out, by what all calls of `due` said of them. One that was refused until it was
 * too late was refused: the last calls say that it is missed, which rehearse does not wait for.
 */
function unsentOf(items: readonly DueItem[], startMs: number): readonly Unsent[] {
  const groups = Map.groupBy(
    items.filter(({ occurrence }) => occurrence !== null),
    ({ campaign, occurrence }) => `${campaign} ${occurrence}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [{ campaign, occurrence } = { campaign: null, occurrence: null }] = group;
    if (occurrence === null || group.some(({ result }) => result !== null)) return [];
    const refusals = group.filter(
      ({ action, why }) => action === 'refuse' || why === 'paused' || why === 'over-budget',
    );
    const [refusal] = refusals;
    const isMissed = group.at(-1)?.action === 'miss';
    if (refusal === undefined && (!isMissed || (instantOf(occurrence) ?? startMs) < startMs)) return [];
    const all = codesOf(refusals.flatMap(({ diagnostics }) => diagnostics));
    const first = codesOf(refusal?.diagnostics ?? []);
    return [{ campaign, occurrence, isRefused: refusal !== undefined, begins: null, first, all }];
  });
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const kinds = Map.groupBy(lines, (line) => {
    const [kind, , , ...rest] = line.split(' ');
    if (kind === 'row') return `row ${rest[0]} ${rest[1]}`;
    return kind === 'run' ? `run ${rest[0]} ${rest[1]}` : `unsent ${rest[0]}`;
  });
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]));
}
