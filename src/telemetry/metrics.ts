import { EXIT, type ExitStatus } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import { type Campaign, OUTCOMES, type Report } from '../model.ts';
import type { DueItem } from '../operations/due.ts';
import { newestFirst, withoutTests } from '../operations/report.ts';
import { exitOf } from '../operations/send-options.ts';
import { totalsKey } from '../report/ends.ts';
import { cameBack, feedbackOf } from '../send/deliveries.ts';
import { summarise } from '../send/summary.ts';
import { writeOutput } from '../util/files.ts';
import { gaugesText, type Metrics, type Sample } from './gauges.ts';

export type MetricsGathering = ReturnType<typeof gatherMetrics>;

interface Gathered {
  readonly campaign: string;
  readonly environment: string;
  startedMs: number | null;
  endedMs: number | null;
  exit: ExitStatus | null;
  missed: readonly number[];
  report: CampaignFacts['report'];
  ledger: string | null;
}

/** @param mayRead false: the ledger must not be touched at the end */
export function gatherMetrics(command: string, now: () => number, mayRead: (exit: ExitStatus) => boolean) {
  const beganMs = now();
  const campaigns = new Map<string, Gathered>();
  let overall: string | null = null;
  const keyOf = (campaign: string, environment: string): string => `${environment}\0${campaign}`;
  const of = (campaign: string, environment: string): Gathered => {
    const key = keyOf(campaign, environment);
    const found = campaigns.get(key) ?? {
      campaign,
      environment,
      startedMs: null,
      endedMs: null,
      exit: null,
      missed: [],
      report: null,
      ledger: null,
    };
    campaigns.set(key, found);
    return found;
  };
  return {
    /** A campaign that is checked, whether or not it is sent. */
    looked({ name, project }: Pick<Campaign, 'name' | 'project'>, environment: string): void {
      of(name, environment).ledger = project.ledger;
    },
    /** The status that its last start came to, where it is known better than by its report. */
    ended({ campaign, file, action, exit }: DueItem, environment: string): void {
      if (action !== 'none' && action !== 'leave') of(campaign ?? nameIn(file), environment).exit = exit;
    },
    run(ledger: Ledger, run: RunRecord): void {
      Object.assign(of(run.name, run.environment), factsOf(reportOf(ledger, run)));
    },
    /** An occurrence that was missed, and when that was noticed, in ms since 1970. */
    missed(campaign: string, environment: string, atMs: number): void {
      const one = of(campaign, environment);
      one.missed = [...one.missed, atMs];
    },
    /** The file is about a command over all campaigns as well. */
    overall(environment: string): void {
      overall = environment;
    },
    started(campaign: string, environment: string, atMs: number): void {
      of(campaign, environment).startedMs = atMs;
    },
    /** The name was a guess: the campaign could not be read yet. */
    renamed(from: string, to: string, environment: string): void {
      if (from === to) return;
      const guessed = of(from, environment);
      campaigns.delete(keyOf(from, environment));
      campaigns.set(keyOf(to, environment), { ...guessed, campaign: to });
    },
    finished(campaign: string, environment: string, atMs: number, { report }: { readonly report: Report }): void {
      Object.assign(of(campaign, environment), { endedMs: atMs, report });
    },
    async write(path: string, { exit, atMs }: { readonly exit: ExitStatus; readonly atMs: number }): Promise<void> {
      const facts = [...campaigns.values()].map((one) =>
        complete(one, { exit: overall === null ? exit : null, atMs, mayRead: mayRead(exit) }),
      );
      const environment = overall;
      const about: CommandFacts | null =
        environment === null ? null : { command, environment, startedMs: beganMs, endedMs: atMs, exitStatus: exit };
      // Read by node_exporter, which is another user. There is nothing personal in it.
      await writeOutput(path, [await metricsText(facts, about)], { mode: 0o644 });
    },
  };
}

/** Campaigns that this command did not send have the figures of the last time. */
function complete(
  one: Gathered,
  { exit, atMs, mayRead }: { readonly exit: ExitStatus | null; readonly atMs: number; readonly mayRead: boolean },
): CampaignFacts {
  const { campaign, environment, ledger } = one;
  const found = one.report !== null || ledger === null || !mayRead ? null : newestReport(ledger, one, atMs);
  const known = found === null ? null : factsOf(found);
  const startedMs = one.startedMs ?? known?.startedMs ?? null;
  // One that was started in this command has ended with it at the latest.
  const endedMs = one.endedMs ?? (one.startedMs === null ? (known?.endedMs ?? null) : atMs);
  const report = one.report ?? known?.report ?? null;
  const exitStatus = one.exit ?? (one.startedMs === null ? null : exit) ?? known?.exit ?? EXIT.done;
  return { campaign, environment, startedMs, endedMs, exitStatus, missed: one.missed, report };
}

function factsOf({ run, report }: ReturnType<typeof reportOf>) {
  return {
    startedMs: run.lastStartAtMs ?? run.createdAtMs,
    endedMs: run.finishedAtMs,
    exit: exitOf(report),
    report,
  };
}

/** The name of its folder or file. */
export function nameIn(target: string): string {
  const parts = target.replace(/[\\/]+$/, '').split(/[\\/]/);
  const last = parts.at(-1) ?? target;
  if (!/\.ya?ml$/.test(last)) return last;
  return (/^campaign\.ya?ml$/.test(last) ? parts.at(-2) : last.replace(/\.ya?ml$/, '')) ?? target;
}

type KnownReport = { readonly run: RunRecord; readonly report: Report };

/** Null: there is none, or the ledger cannot be read. */
function newestReport(
  path: string,
  named: { readonly environment: string; readonly campaign: string },
  nowMs: number,
): KnownReport | null {
  let ledger: Ledger | null = null;
  try {
    ledger = openExistingLedger(path, { nowMs });
    if (ledger === null) return null;
    const { environment, campaign } = named;
    const runs = ledger.runById(campaign).filter((run) => run.environment === environment);
    const [run] = newestFirst(withoutTests(runs));
    return run === undefined ? null : reportOf(ledger, run);
  } catch {
    // The command that needs the ledger reports the error.
    return null;
  } finally {
    ledger?.close();
  }
}

function reportOf(ledger: Ledger, run: RunRecord): KnownReport {
  using _ = ledger.hold();
  return { run, report: summarise(ledger, run, null, null, cameBack(ledger, run, feedbackOf(ledger, run), null, 0)) };
}

export interface CampaignFacts {
  readonly campaign: string;
  readonly environment: string;
  /** The last start: ms since 1970; null where that is not known. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly exitStatus: number;
  /** When each missed occurrence of the last 31 days was noticed, in ms since 1970. */
  readonly missed?: readonly number[];
  /** Null where nothing was ever sent, or the ledger cannot be read. */
  readonly report: Pick<Report, 'state' | 'totals' | 'reasons' | 'deliveries' | 'requests' | 'sms'> | null;
}

interface CommandFacts {
  readonly command: string;
  readonly environment: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly exitStatus: number;
}

type Metric = keyof Metrics['runs'];
type Labels = Readonly<Record<string, string>>;

/** No label has the occurrence: a schedule would make a series a day. */
export async function metricsText(campaigns: readonly CampaignFacts[], command: CommandFacts | null): Promise<string> {
  return await gaugesText('runs', [
    ...campaigns.flatMap(samplesOf),
    ...(command === null ? [] : commandSamples(command)),
  ]);
}

function samplesOf(facts: CampaignFacts): readonly Sample<Metric>[] {
  const { campaign, environment, startedMs, endedMs, exitStatus, missed, report } = facts;
  const labels = { campaign, environment };
  const times: readonly (readonly [Metric, number | null])[] = [
    ['handbill_last_start_timestamp_seconds', seconds(startedMs)],
    ['handbill_last_finish_timestamp_seconds', seconds(endedMs)],
    [
      'handbill_last_duration_seconds',
      startedMs === null || endedMs === null ? null : seconds(Math.max(0, endedMs - startedMs)),
    ],
    ['handbill_last_exit_status', exitStatus],
    ['handbill_missed', missed?.length ?? null],
    ['handbill_last_missed_timestamp_seconds', missed?.length ? seconds(Math.max(...missed)) : null],
  ];
  return [
    ...(report === null ? [] : reportSamples(report, labels)),
    ...times.flatMap(([metric, value]): readonly Sample<Metric>[] => (value === null ? [] : [[metric, value, labels]])),
  ];
}

function reportSamples(report: NonNullable<CampaignFacts['report']>, labels: Labels): readonly Sample<Metric>[] {
  const samples: Sample<Metric>[] = [];
  const add = (metric: Metric, value: number, more: Labels = {}): void => {
    samples.push([metric, value, { ...labels, ...more }]);
  };
  for (const outcome of OUTCOMES) add('handbill_recipients', report.totals[totalsKey(outcome)], { outcome });
  for (const outcome of OUTCOMES) {
    for (const [reason, count] of Object.entries(report.reasons[totalsKey(outcome)] ?? {})) {
      add('handbill_recipients_by_reason', count, { outcome, reason });
    }
  }
  for (const [state, count] of Object.entries(report.deliveries)) add('handbill_deliveries', count, { state });
  add('handbill_requests', report.requests.posted);
  add('handbill_retries', report.requests.retried);
  add('handbill_message_parts', report.sms.parts);
  for (const state of RUN_STATES) add('handbill_run_state', state === report.state ? 1 : 0, { state });
  return samples;
}

const RUN_STATES = ['running', 'finished', 'partial', 'halted', 'interrupted'] as const;

function commandSamples({
  command,
  environment,
  startedMs,
  endedMs,
  exitStatus,
}: CommandFacts): readonly Sample<Metric>[] {
  const labels = { command, environment };
  return [
    ['handbill_command_start_timestamp_seconds', startedMs / 1_000, labels],
    ['handbill_command_finish_timestamp_seconds', endedMs / 1_000, labels],
    ['handbill_command_duration_seconds', Math.max(0, endedMs - startedMs) / 1_000, labels],
    ['handbill_command_exit_status', exitStatus, labels],
  ];
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000;
}
