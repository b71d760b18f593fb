import { userInfo } from 'node:os';
import process from 'node:process';
import type { Diagnostic } from '../../errors.ts';
import { checkNumbers, INSTANT, type ProjectOptions, present, settle } from '../options.ts';

/** Which times are asked for. */
export interface ScheduleOptions extends Omit<ProjectOptions, 'ledger'> {
  /** The instant from which on, in ms since 1970. Default: now. */
  readonly at?: number;
  /** How many occurrences of each campaign. Default: 5. */
  readonly next?: number;
}

/** When one campaign goes out. */
export interface ScheduledCampaign {
  readonly campaign: string;
  readonly file: string;
  readonly cron: string;
  /** IANA name of the zone that the expression is read in. */
  readonly timeZone: string;
  /** What becomes of an instant at which nothing ran. */
  readonly missed: 'catch-up' | 'skip';
  /** The next ones: the instant in UTC, and as the clock on the wall shows it in the zone. */
  readonly next: readonly { readonly occurrence: string; readonly local: string }[];
}

/** When campaigns go out by themselves. */
export interface ScheduleResult {
  readonly campaigns: readonly ScheduledCampaign[];
  /** Those that speak of a schedule and cannot be read. */
  readonly refused: readonly { readonly file: string; readonly diagnostics: readonly Diagnostic[] }[];
}

/** What calls `handbill due`. */
export type CallerKind = 'crontab' | 'systemd' | 'kubernetes' | 'github-actions';

/** Where the caller runs. */
export interface CallerOptions extends ProjectOptions {
  /** Environment that is sent to. Default: the only one of handbill.yaml. */
  readonly environment?: string;
  /** Program that is called, and its first arguments, absolute. Default: this Node.js with the script of this package. */
  readonly program?: readonly string[];
  /** The user of a systemd service. Default: the user of this process. */
  readonly user?: string;
  /** File with variables that the caller reads first, relative to `cwd`. Default: none. */
  readonly envFile?: string;
  /** Kubernetes: the container image; needed there. */
  readonly image?: string;
  /** Kubernetes: the project's folder in the image. Default: `/campaigns`. */
  readonly folder?: string;
  /** GitHub Actions: the label of a runner of one's own, which keeps its disk; needed there. */
  readonly runner?: string;
}

/** A file that makes another program call `handbill due`. */
export interface CallerFile {
  readonly name: string;
  readonly text: string;
}

/**
 * `handbill schedule`: when campaigns go out by themselves.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 where a path means nothing
 */
export async function schedule(paths: readonly string[] = [], options: ScheduleOptions = {}): Promise<ScheduleResult> {
  checkNumbers(options, { at: INSTANT, next: [1, 1_000, 'whole'] });
  const { at, next } = options;
  const { schedule: times } = await import('../schedule.ts');
  return await times(paths, { ...settle(options), ...present({ at, next }) });
}

/**
 * `handbill schedule --format`: the files that have `handbill due` called every few minutes.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 where something that the caller needs is not said, or the machine forgets its disk
 */
export async function scheduleCallers(
  kind: CallerKind,
  paths: readonly string[] = [],
  options: CallerOptions = {},
): Promise<readonly CallerFile[]> {
  const { environment, ledger, envFile, image, folder, runner, program, user } = options;
  const { cwd, now } = settle(options);
  const { SCRIPT, scheduleCallers: write } = await import('../schedule.ts');
  return await write(kind, paths, {
    cwd,
    now,
    program: program ?? [process.execPath, SCRIPT],
    user: user ?? userInfo().username,
    ...present({ environment, ledger, envFile, image, folder, runner }),
  });
}
