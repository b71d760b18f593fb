import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { LogAbout, RoundWatch, RunEndpoint, SendWatch } from '../operations/observer.ts';
import { ABOUT_NOTHING } from '../operations/observer.ts';
import { exitOf, type SendResult } from '../operations/send-result.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunEnd } from '../run/run.ts';
import { createAttemptLog } from './attempts.ts';
import { countRound, createMessageCount } from './counts.ts';
import type { Instruments } from './instruments.ts';
import type { Log } from './log.ts';
import { type MetricsGathering, nameIn } from './metrics.ts';
import type { CommandSpan, RequestTarget, RunSpan, Timed } from './spans.ts';

/** OpenTelemetry, as commands use it. */
export interface OtelParts {
  readonly span: CommandSpan;
  readonly instruments: Instruments;
}

export interface Sinks {
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
    round: (ledger, run, toDo) => harmless(() => watch.round(ledger, run, toDo)) ?? UNWATCHED,
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
  let plan: Plan | null = null;
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
    round(ledger, run, toDo) {
      rounds += 1;
      about = { ...about, run: run.id };
      const isFirst = run.starts === 0 && rounds === 1;
      const event = isFirst ? 'run-started' : 'run-continued';
      const message = `The run ${isFirst ? 'begins' : 'continues'}.`;
      log?.write('info', event, message, { toDo, ledger: ledger.path }, about);
      return watchRound(sinks, { ledger, run, about, plan });
    },
    waits(untilMs, why) {
      const fields = { until: new Date(untilMs).toISOString(), why: why ?? 'window-or-canary' } as const;
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
  const exitStatus = result.ledgerError === null ? exitOf(report) : result.exit;
  const fields = { state, exitStatus, posted, recovered, totals: { ...totals }, requests: { ...requests }, durationMs };
  const level = exitStatus === 0 ? 'info' : exitStatus === 3 || exitStatus === 4 ? 'warn' : 'error';
  log.write(level, 'run-ended', `The start has ended: the run is ${state}.`, fields, about);
}

interface RoundFacts {
  readonly ledger: Pick<Ledger, 'legs'>;
  readonly run: RunRecord;
  readonly about: LogAbout;
  readonly plan: Plan | null;
}

function watchRound({ log, otel }: Sinks, facts: RoundFacts): RoundWatch {
  const { about, plan, run, ledger } = facts;
  const attempts = log?.isDebug === true ? createAttemptLog(log, about, plan) : null;
  const counting = otel === null ? null : createMessageCount(otel.instruments, about, plan);
  const before = otel === null || run.starts === 0 ? [] : ledger.legs(run);
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
    ended: (end: RunEnd | null) =>
      void harmless(() => {
        span?.end(errorOf(end), end === null ? {} : { 'handbill.posted': end.posted, 'handbill.state': end.state });
        // A ledger that failed is not read again.
        if (otel === null || end === null || end.ledgerError !== null) return;
        countRound(otel.instruments, about, before, ledger.legs(run));
      }),
  };
}

function errorOf(end: RunEnd | null): string | null {
  if (end === null) return 'refused';
  if (end.ledgerError !== null) return 'ledger';
  return end.halt?.rule ?? (end.state === 'interrupted' ? 'interrupted' : null);
}

/** Addresses of environments hold no user and no query; what looks like a key in the path is left out. */
function targetOf({ environment }: Plan): RequestTarget {
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
