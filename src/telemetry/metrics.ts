import { EXIT, type ExitStatus } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { MetricsWatch } from '../operations/observer.ts';
import { exitOf, type SendResult } from '../operations/send-result.ts';
import { writeOutput } from '../util/output-file.ts';
import { type CampaignFacts, type CommandFacts, metricsText } from './metrics-text.ts';
import { newestReport, reportOf } from './newest.ts';

/** What the metrics file will say, gathered while a command goes on. */
export interface MetricsGathering extends MetricsWatch {
  started(campaign: string, environment: string, atMs: number): void;
  /** The name was a guess: the campaign could not be read yet. */
  renamed(from: string, to: string, environment: string): void;
  finished(campaign: string, environment: string, atMs: number, result: SendResult): void;
  write(path: string, end: { readonly exit: ExitStatus; readonly atMs: number }): Promise<void>;
}

interface Gathered {
  readonly campaign: string;
  readonly environment: string;
  startedMs: number | null;
  endedMs: number | null;
  exit: ExitStatus | null;
  report: CampaignFacts['report'];
  ledger: string | null;
}

/**
 * @param mayRead false where the ledger is not to be touched any more at the end
 */
export function gatherMetrics(
  command: string,
  now: () => number,
  mayRead: (exit: ExitStatus) => boolean,
): MetricsGathering {
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
      report: null,
      ledger: null,
    };
    campaigns.set(key, found);
    return found;
  };
  return {
    looked({ name, project }, environment) {
      of(name, environment).ledger = project.ledger;
    },
    ended({ campaign, file }, environment, exit) {
      of(campaign ?? nameIn(file), environment).exit = exit;
    },
    run(ledger: Ledger, run: RunRecord) {
      Object.assign(of(run.campaign, run.environment), factsOf(reportOf(ledger, run)));
    },
    overall(environment) {
      overall = environment;
    },
    started(campaign, environment, atMs) {
      of(campaign, environment).startedMs = atMs;
    },
    renamed(from, to, environment) {
      if (from === to) return;
      const guessed = of(from, environment);
      campaigns.delete(keyOf(from, environment));
      campaigns.set(keyOf(to, environment), { ...guessed, campaign: to });
    },
    finished(campaign, environment, atMs, { report }) {
      Object.assign(of(campaign, environment), { endedMs: atMs, report });
    },
    async write(path, { exit, atMs }) {
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

/** Campaigns not sent in this command have what the ledger holds of the last time. */
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
  return { campaign, environment, startedMs, endedMs, exitStatus, report };
}

function factsOf({ run, report }: ReturnType<typeof reportOf>) {
  return {
    startedMs: run.lastStartAtMs ?? run.createdAtMs,
    endedMs: run.finishedAtMs,
    exit: exitOf(report),
    report,
  };
}

/** The name that a campaign probably has, where it cannot be read: that of its folder or file. */
export function nameIn(target: string): string {
  const parts = target.replace(/[\\/]+$/, '').split(/[\\/]/);
  const last = parts.at(-1) ?? target;
  if (!/\.ya?ml$/.test(last)) return last;
  return (/^campaign\.ya?ml$/.test(last) ? parts.at(-2) : last.replace(/\.ya?ml$/, '')) ?? target;
}
