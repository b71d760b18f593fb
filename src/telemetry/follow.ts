import { EXIT } from '../errors.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import type { DueItem } from '../operations/due.ts';
import { ABOUT_NOTHING, type LogAbout, type Telemetry } from '../operations/observer.ts';
import { exitOf } from '../operations/send-options.ts';
import type { RunEvent } from '../send/event.ts';
import type { TimedClaim } from '../send/group-commit.ts';
import { mask } from '../util/redact.ts';
import { iso } from '../util/time.ts';
import type { Log } from './log.ts';
import { type MetricsGathering, nameIn } from './metrics.ts';

interface Sinks extends Pick<Telemetry, 'note' | 'said'> {
  readonly log: Log | null;
  readonly metrics: MetricsGathering | null;
  readonly now: () => number;
}

/** Writes the events of a command into the log and the metrics file. Errors here never stop it. */
export function createFollower(sinks: Sinks): Telemetry['follow'] {
  const follow = followEvents(sinks);
  return (event) => {
    try {
      follow(event);
    } catch {
      // Telemetry is never worth a send.
    }
  };
}

/** A command sends one campaign after the other. */
function followEvents({ log, metrics, now, note, said }: Sinks): Telemetry['follow'] {
  let beganMs = now();
  let about: LogAbout = ABOUT_NOTHING;
  let campaign: Campaign | null = null;
  let passes = 0;
  let logAttempts: ReturnType<typeof createAttemptLog> | null = null;
  return (event) => {
    switch (event.kind) {
      case 'begins': {
        const { target, environment } = event;
        beganMs = now();
        about = { ...ABOUT_NOTHING, campaign: nameIn(target), environment };
        campaign = null;
        passes = 0;
        return metrics?.started(nameIn(target), environment, beganMs);
      }
      case 'planned': {
        const environment = about.environment ?? event.plan.environment.name;
        ({ campaign } = event.plan);
        metrics?.renamed(about.campaign ?? campaign.name, campaign.name, environment);
        metrics?.looked(campaign, environment);
        about = { ...about, campaign: campaign.name, occurrence: event.plan.occurrence };
        return;
      }
      case 'started': {
        const { run, ledger, toDo, commit } = event;
        passes += 1;
        about = { ...about, run: run.id };
        logAttempts = null;
        const isFirst = run.starts === 0 && passes === 1;
        const from = commit ?? { commit: null, branch: null, clean: null };
        const message = `The run ${isFirst ? 'begins' : 'continues'}.`;
        log?.write('info', isFirst ? 'run-started' : 'run-continued', message, { toDo, ledger, ...from }, about);
        if (log?.isDebug === true) logAttempts = createAttemptLog(log, about, campaign);
        return;
      }
      case 'committed':
        return logAttempts?.(event.results, event.claims);
      case 'waits': {
        const fields = { until: iso(event.untilMs), why: event.why ?? 'window-or-canary' } as const;
        return log?.write('info', 'waiting', `Nothing is sent before ${fields.until}.`, fields, about);
      }
      case 'ended':
        about = { ...about, run: event.report.run };
        metrics?.finished(event.report.campaign, event.report.environment, now(), event);
        if (log !== null) logEnd(log, event, about, now() - beganMs);
        return;
      case 'ledger-lost':
        return said(event.error.diagnostics);
      case 'leaves-alone':
        return said(event.error.diagnostics, { campaign: event.run.campaign, environment: event.run.environment });
      case 'due':
        return metrics?.overall(event.environment);
      case 'campaign':
        return metrics?.looked(event.campaign, event.environment);
      case 'item':
        noteItem(note, said, event.item, event.environment);
        return metrics?.ended(event.item, event.environment);
      case 'missed':
        for (const one of event.missed) metrics?.missed(one.campaign, event.environment, one.atMs);
        return;
      default:
    }
  };
}

function noteItem(note: Sinks['note'], said: Sinks['said'], item: DueItem, environment: string): void {
  const { campaign, file, occurrence, action, why, next, exit, result, diagnostics } = item;
  const about = { campaign, environment, occurrence, run: result?.report.run ?? null };
  const fields = { action, why, next, exitStatus: exit };
  note(exit === EXIT.done ? 'info' : 'warn', 'campaign-due', `${campaign ?? file}: ${action}.`, fields, about);
  said(diagnostics, about);
}

function logEnd(
  log: Log,
  { report, posted, recovered, exit }: Extract<RunEvent, { kind: 'ended' }>,
  about: LogAbout,
  durationMs: number,
): void {
  const { halt, totals, requests, state } = report;
  if (halt !== null) {
    log.write('error', 'run-halted', halt.message, { rule: halt.rule, next: halt.next }, about);
  }
  if (totals.deferred > 0) {
    const fields = { count: totals.deferred, until: report.opensAt ?? null };
    log.write('info', 'recipients-deferred', `${totals.deferred} recipients wait.`, fields, about);
  }
  const exitStatus = exit === EXIT.ledger ? exit : exitOf(report);
  const fields = { state, exitStatus, posted, recovered, totals: { ...totals }, requests: { ...requests }, durationMs };
  const level = exitStatus === 0 ? 'info' : exitStatus === 3 || exitStatus === 4 ? 'warn' : 'error';
  log.write(level, 'run-ended', `The start has ended: the run is ${state}.`, fields, about);
}

/** All results of one commit in one write. A result has no address, so the log keeps that of the claim until then. */
function createAttemptLog(log: Log, about: LogAbout, campaign: Campaign | null) {
  const addresses = new Map<string, string>();
  const keyOf = ({ row, step }: Pick<ResultRecord, 'row' | 'step'>): string => `${row}.${step}`;
  return (results: readonly ResultRecord[], claims: readonly TimedClaim[]): void => {
    const records = results.map((result) => {
      const { row, step, attempts, state, reason, httpStatus, messageId } = result;
      const to = addresses.get(keyOf(result)) ?? null;
      addresses.delete(keyOf(result));
      const outcome = result.next === undefined ? state : 'rejected';
      const fields = {
        row,
        step,
        channel: (step === 0 ? campaign?.channel : campaign?.fallbacks[step - 1]?.channel) ?? 'sms',
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
