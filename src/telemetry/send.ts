import { EXIT } from '../errors.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import {
  ABOUT_NOTHING,
  type LogAbout,
  type OnCommitted,
  type PlannedSend,
  type SendWatch,
} from '../operations/observer.ts';
import { exitOf, type SendResult } from '../operations/send-options.ts';
import { mask } from '../util/redact.ts';
import { iso } from '../util/time.ts';
import type { Log } from './log.ts';
import { type MetricsGathering, nameIn } from './metrics.ts';

type Sinks = { readonly log: Log | null; readonly metrics: MetricsGathering | null; readonly now: () => number };

/** Errors here never stop the start. */
export function watchSend(sinks: Sinks, target: string, environment: string): SendWatch {
  const watch = followSend(sinks, target, environment);
  return {
    planned: (plan) => void harmless(() => watch.planned(plan)),
    round: (ledger, run, toDo, commit) => {
      const onCommitted = harmless(() => watch.round(ledger, run, toDo, commit));
      return onCommitted === null ? null : (results, claims) => void harmless(() => onCommitted(results, claims));
    },
    waits: (untilMs, why) => void harmless(() => watch.waits(untilMs, why)),
    ended: (result) => void harmless(() => watch.ended(result)),
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

function followSend(sinks: Sinks, target: string, environment: string): SendWatch {
  const { log, metrics, now } = sinks;
  const beganMs = now();
  let about: LogAbout = { ...ABOUT_NOTHING, campaign: nameIn(target), environment };
  let plan: PlannedSend | null = null;
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
    round(ledger, run, toDo, commit = null) {
      rounds += 1;
      about = { ...about, run: run.id };
      const isFirst = run.starts === 0 && rounds === 1;
      const event = isFirst ? 'run-started' : 'run-continued';
      const message = `The run ${isFirst ? 'begins' : 'continues'}.`;
      const from = commit ?? { commit: null, branch: null, clean: null };
      log?.write('info', event, message, { toDo, ledger: ledger.path, ...from }, about);
      return log?.isDebug === true ? createAttemptLog(log, about, plan) : null;
    },
    waits(untilMs, why) {
      const fields = { until: iso(untilMs), why: why ?? 'window-or-canary' } as const;
      log?.write('info', 'waiting', `Nothing is sent before ${fields.until}.`, fields, about);
    },
    ended(result) {
      about = { ...about, run: result.report.run };
      metrics?.finished(result.report.campaign, environment, now(), result);
      if (log !== null) logEnd(log, result, about, now() - beganMs);
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

/** The campaign is its first step. */
function channelOf(plan: PlannedSend | null, step: number): Channel {
  const campaign = plan?.campaign;
  return (step === 0 ? campaign?.channel : campaign?.fallbacks[step - 1]?.channel) ?? 'sms';
}

/** All results of one commit in one write. A result has no address, so the log keeps that of the claim until then. */
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
