import { EXIT } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ResultRecord, RunRecord } from '../ledger/records.ts';
import type { Channel, StepCount } from '../model.ts';
import {
  ABOUT_NOTHING,
  type LogAbout,
  type OnCommitted,
  type PlannedSend,
  type RoundEnd,
  type RoundWatch,
  type RunEndpoint,
  type SendWatch,
} from '../operations/observer.ts';
import { exitOf, type SendResult } from '../operations/send-options.ts';
import { mask } from '../util/redact.ts';
import { iso } from '../util/time.ts';
import type { Log } from './log.ts';
import { type MetricsGathering, nameIn } from './metrics.ts';
import type { CommandSpan, Instruments, RequestTarget, RunSpan, Timed } from './otel.ts';

/** OpenTelemetry, as commands use it. */
export interface OtelParts {
  readonly span: CommandSpan;
  readonly instruments: Instruments;
}

interface Sinks {
  readonly log: Log | null;
  readonly otel: OtelParts | null;
  readonly metrics: MetricsGathering | null;
  readonly now: () => number;
}

/** A start of a campaign that is followed, until the command ends. */
export interface WatchedSend extends SendWatch {
  close(): void;
}

/** Follows one start of a campaign, for all who want to know. Whatever goes wrong with that, the start goes on. */
export function watchSend(sinks: Sinks, target: string, environment: string): WatchedSend {
  const watch = followSend(sinks, target, environment);
  return {
    planned: (plan) => void harmless(() => watch.planned(plan)),
    checking: () => void harmless(watch.checking),
    checked: () => void harmless(watch.checked),
    round: (ledger, run, toDo, commit) => harmless(() => watch.round(ledger, run, toDo, commit)) ?? UNWATCHED,
    waits: (untilMs, why) => void harmless(() => watch.waits(untilMs, why)),
    ended: (result) => void harmless(() => watch.ended(result)),
    close: () => void harmless(watch.close),
  };
}

/** Null where it failed: telemetry is never worth a send. */
function harmless<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

const UNWATCHED: RoundWatch = { endpoint: (endpoint) => endpoint, onCommitted: null, ended: () => undefined };

function followSend(sinks: Sinks, target: string, environment: string): WatchedSend {
  const { log, otel, metrics, now } = sinks;
  const beganMs = now();
  let about: LogAbout = { ...ABOUT_NOTHING, campaign: nameIn(target), environment };
  let plan: PlannedSend | null = null;
  let check: Timed | null = null;
  let rounds = 0;
  metrics?.started(about.campaign ?? target, environment, beganMs);
  return {
    planned(known) {
      plan = known;
      const { campaign, occurrence } = known;
      metrics?.renamed(about.campaign ?? target, campaign.name, environment);
      metrics?.looked(campaign, environment);
      about = { ...about, campaign: campaign.name, occurrence };
    },
    checking() {
      check = otel?.span.part('check', about) ?? null;
    },
    checked() {
      check?.end(null);
      check = null;
    },
    round(ledger, run, toDo, commit = null) {
      rounds += 1;
      about = { ...about, run: run.id };
      const isFirst = run.starts === 0 && rounds === 1;
      const event = isFirst ? 'run-started' : 'run-continued';
      const message = `The run ${isFirst ? 'begins' : 'continues'}.`;
      const from = commit ?? { commit: null, branch: null, clean: null };
      log?.write('info', event, message, { toDo, ledger: ledger.path, ...from }, about);
      return watchRound(sinks, { ledger, run, about, plan });
    },
    waits(untilMs, why) {
      const fields = { until: iso(untilMs), why: why ?? 'window-or-canary' } as const;
      log?.write('info', 'waiting', `Nothing is sent before ${fields.until}.`, fields, about);
    },
    close: () => check?.end('refused'),
    ended(result) {
      about = { ...about, run: result.report.run };
      metrics?.finished(result.report.campaign, environment, now(), result);
      if (log !== null) logEnd(log, result, about, now() - beganMs);
      for (const [state, count] of Object.entries(result.report.deliveries)) {
        otel?.instruments.deliveries(count, { campaign: result.report.campaign, environment, state });
      }
    },
  };
}

function logEnd(log: Log, result: SendResult, about: LogAbout, durationMs: number): void {
  const { report, posted, recovered } = result;
  const { halt, totals, requests, state } = report;
  if (halt !== null) {
    log.write('error', 'run-halted', halt.message, { rule: halt.rule, next: halt.next }, about);
  }
  if (totals.deferred > 0) {
    const fields = { count: totals.deferred, until: report.opensAt ?? null };
    log.write('info', 'recipients-deferred', `${totals.deferred} recipients wait.`, fields, about);
  }
  const exitStatus = result.exit === EXIT.ledger ? result.exit : exitOf(report);
  const fields = { state, exitStatus, posted, recovered, totals: { ...totals }, requests: { ...requests }, durationMs };
  const level = exitStatus === 0 ? 'info' : exitStatus === 3 || exitStatus === 4 ? 'warn' : 'error';
  log.write(level, 'run-ended', `The start has ended: the run is ${state}.`, fields, about);
}

interface RoundFacts {
  readonly ledger: Pick<Ledger, 'steps'>;
  readonly run: RunRecord;
  readonly about: LogAbout;
  readonly plan: PlannedSend | null;
}

function watchRound({ log, otel }: Sinks, facts: RoundFacts): RoundWatch {
  const { about, plan, run, ledger } = facts;
  const attempts = log?.isDebug === true ? createAttemptLog(log, about, plan) : null;
  const counting = otel === null ? null : createMessageCount(otel.instruments, about, plan);
  const before = otel === null || run.starts === 0 ? [] : ledger.steps(run);
  const span = otel?.span.run(about) ?? null;
  return {
    endpoint: (endpoint) =>
      otel === null || span === null || plan === null
        ? endpoint
        : watchRequests(endpoint, span, otel.instruments, targetOf(plan)),
    onCommitted:
      attempts === null && counting === null
        ? null
        : (results, claims) => {
            harmless(() => attempts?.(results, claims));
            harmless(() => counting?.(results));
          },
    ended: (end: RoundEnd | null) =>
      void harmless(() => {
        span?.end(errorOf(end), end === null ? {} : { 'handbill.posted': end.posted, 'handbill.state': end.state });
        // A ledger that failed is not read again.
        if (otel === null || end === null || end.ledgerError !== null) return;
        countRound(otel.instruments, about, before, ledger.steps(run));
      }),
  };
}

function errorOf(end: RoundEnd | null): string | null {
  if (end === null) return 'refused';
  if (end.ledgerError !== null) return 'ledger';
  return end.halt?.rule ?? (end.state === 'interrupted' ? 'interrupted' : null);
}

/** Addresses of environments hold no user and no query; what looks like a key in the path is left out. */
function targetOf({ environment }: PlannedSend): RequestTarget {
  const url = new URL(environment.url);
  const isSecure = url.protocol === 'https:';
  return {
    url: `${url.origin}${url.pathname.replace(LONG_SEGMENT, '/_')}`,
    address: url.hostname,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
  };
}

const LONG_SEGMENT = /\/[A-Za-z0-9_~.%-]{20,}/g;

function watchRequests(
  endpoint: RunEndpoint,
  span: RunSpan,
  instruments: Instruments,
  target: RequestTarget,
): RunEndpoint {
  return {
    ready: () => endpoint.ready(),
    release: () => endpoint.release(),
    async post(body, reference) {
      const ended = harmless(() => span.request(target));
      harmless(() => instruments.began(target));
      const attempt = await endpoint.post(body, reference);
      harmless(() => ended?.(attempt));
      harmless(() => instruments.ended(target, attempt));
      return attempt;
    },
  };
}

/** The channel of a step: the campaign is its first. */
function channelOf(plan: PlannedSend | null, step: number): Channel {
  const campaign = plan?.campaign;
  return (step === 0 ? campaign?.channel : campaign?.fallbacks[step - 1]?.channel) ?? 'sms';
}

/**
 * Writes a record for each attempt whose result is on disk, all of one commit in one write. A result has no address: it
 * is remembered from the claim, for as long as the request is in flight.
 */
function createAttemptLog(log: Log, about: LogAbout, plan: PlannedSend | null): OnCommitted {
  const addresses = new Map<string, string>();
  const keyOf = ({ row, step }: Pick<ResultRecord, 'row' | 'step'>): string => `${row}.${step}`;
  return (results, claims) => {
    const records = results.map((result) => {
      const { row, step, attempts, state, reason, httpStatus, messageId } = result;
      const to = addresses.get(keyOf(result)) ?? null;
      addresses.delete(keyOf(result));
      const outcome = result.next === undefined ? state : 'rejected';
      const fields = {
        row,
        step,
        channel: channelOf(plan, step),
        to: to === null ? null : mask(to),
        attempt: attempts,
        outcome,
        reason,
        httpStatus,
        messageId,
      };
      return { message: `An attempt: ${outcome}.`, fields };
    });
    log.writeAll('debug', 'attempt', records, about);
    for (const claim of claims) addresses.set(keyOf(claim), claim.to);
  };
}

/** Counts messages by outcome as their results are committed. */
function createMessageCount(
  instruments: Instruments,
  about: LogAbout,
  plan: PlannedSend | null,
): (results: readonly ResultRecord[]) => void {
  const where = whereOf(about);
  return (results) => {
    for (const { state, reason, step, next } of results) {
      if (state === 'pending') {
        // Stopped before its first byte: no attempt follows in this start.
        if (reason !== 'stopped') instruments.retries(1, { ...where, reason });
        continue;
      }
      const fellBack = next !== undefined;
      const [outcome, why] = fellBack ? (['rejected', 'fell-back'] as const) : ([state, reason] as const);
      instruments.messages(1, { ...where, outcome, reason: why, channel: channelOf(plan, step) });
    }
  };
}

/** What no result says: who was left out or put off in a round, and how many parts its messages had. */
function countRound(
  instruments: Instruments,
  about: LogAbout,
  before: readonly StepCount[],
  after: readonly StepCount[],
): void {
  const where = whereOf(about);
  const known = new Map<string, { count: number; parts: number }>();
  for (const [sign, counts] of [[-1, before] as const, [1, after] as const]) {
    for (const { outcome, reason, channel, count, parts } of counts) {
      const key = JSON.stringify([outcome, reason, channel]);
      const sum = known.get(key) ?? { count: 0, parts: 0 };
      known.set(key, { count: sum.count + sign * count, parts: sum.parts + sign * parts });
    }
  }
  for (const [key, { count, parts }] of known) {
    const [outcome, reason, channel] = JSON.parse(key) as [StepCount['outcome'], string | null, string];
    // A recipient that was put off may be sent to now: then there are fewer than before.
    if (LEFT_OUT.has(outcome) && count > 0) instruments.messages(count, { ...where, outcome, reason, channel });
    if (SENT.has(outcome) && parts > 0) instruments.parts(parts, { ...where, channel });
  }
}

const LEFT_OUT: ReadonlySet<string> = new Set(['skipped', 'deferred']);
const SENT: ReadonlySet<string> = new Set(['accepted', 'in-doubt']);

function whereOf({ campaign, environment }: LogAbout): { readonly campaign: string; readonly environment: string } {
  return { campaign: campaign ?? '', environment: environment ?? '' };
}
