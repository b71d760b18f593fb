import { readFile, realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { onlyEnvironment } from '../campaign/environments.ts';
import { findCampaigns } from '../campaign/find.ts';
import { projectsFrom, readCampaign } from '../campaign/load.ts';
import { MAX_YAML_BYTES } from '../campaign/yaml.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { quietLedger } from '../ledger/quiet.ts';
import type { Campaign, ComparedSide, FollowUp, Pause, Schedule } from '../model.ts';
import { spanOfRow } from '../plan/gate.ts';
import { environmentOf } from '../plan/plan.ts';
import {
  type Caller,
  type CallerFile,
  crontab,
  everyMinutes,
  gitHubActions,
  kubernetes,
  systemd,
} from '../schedule/callers.ts';
import { clockOf, upcoming } from '../schedule/occurrence.ts';
import type { CronClock } from '../util/cron.ts';
import { shellWord } from '../util/escape.ts';
import { repositoryOf } from '../util/git.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { displayPath, isInside, readSmallFile } from '../util/paths.ts';
import { type MissedOccurrence, missedOccurrences } from './due-memory.ts';
import {
  INSTANT,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  present,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';

export const SCHEDULE = {
  next: {
    flag: '--next <n>',
    says: 'text: how many occurrences of each campaign',
    range: [1, 1000, 'whole'],
    preset: 5,
  },
  at: {
    flag: '--at <instant>',
    says: 'text: from then on',
    inHelp: ', for example 2026-12-01T09:00:00Z or +14d',
    more: 'In ms since 1970.',
    without: 'now',
    kind: 'instant',
    range: INSTANT,
  },
} as const satisfies OptionTable;

/** The number of times that are listed, and the instant from which. */
export interface ScheduleOptions extends ProjectOptions, OptionsOf<typeof SCHEDULE> {
  /** @internal No later occurrences. */
  readonly untilMs?: number;
}

export interface ScheduledCampaign {
  readonly campaign: string;
  readonly file: string;
  /** Null: it goes out once, at `at`. */
  readonly cron: string | null;
  /** As the campaign has it; null: `cron` is set. */
  readonly at: string | null;
  readonly timeZone: string;
  /** The rule for an instant at which nothing ran. */
  readonly missed: 'catch-up' | 'skip';
  /** The instant in UTC, and as a wall clock in the zone shows it. */
  readonly next: readonly { readonly occurrence: string; readonly local: string }[];
}

export interface ScheduleResult {
  readonly campaigns: readonly ScheduledCampaign[];
  /** Campaigns that follow another one, each recipient some time after its message. */
  readonly followUps: readonly {
    readonly campaign: string;
    readonly file: string;
    readonly after: string;
    readonly wait: string;
  }[];
  /** Campaigns that mention a schedule and cannot be read. */
  readonly refused: readonly { readonly file: string; readonly diagnostics: readonly Diagnostic[] }[];
  /** Occurrences of these campaigns that `due` on this machine missed in the last 31 days, the newest first. */
  readonly missed: readonly MissedOccurrence[];
  /** In force for one of these campaigns, or for an environment as a whole; of a ledger on this machine. */
  readonly pauses: readonly Pause[];
}

/**
 * `handbill schedule`: when campaigns go out by themselves.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 if a path names no campaign
 */
export async function schedule(paths: readonly string[] = [], given: ScheduleOptions = {}): Promise<ScheduleResult> {
  const options = withDefaults(given, SCHEDULE);
  const fromMs = options.at ?? options.now();
  const { cwd, env, ledger: place } = options;
  const { campaigns, followUps, refused } = await readScheduled(paths, { cwd, env, ledger: place });
  const times = campaigns.map(({ campaign, schedule: { cron, at, timeZone, missed }, clock }) => {
    const notAfterMs = Math.min(campaign.send.notAfterMs ?? Infinity, options.untilMs ?? Infinity);
    const next = upcoming(clock, timeZone, { fromMs, count: options.next ?? 5, notAfterMs });
    return { campaign: campaign.name, file: campaign.file, cron, at: at?.written ?? null, timeZone, missed, next };
  });
  const following = followUps.map(({ campaign: { name, file }, after }) => {
    return { campaign: name, file, after: after.campaign, wait: after.wait.written };
  });
  const all = [...campaigns, ...followUps].map(({ campaign }) => campaign);
  const projects = new Map(all.map(({ project }) => [project.ledger, project]));
  const missed: MissedOccurrence[] = [];
  for (const project of projects.values()) missed.push(...missedOccurrences(project, options.now()));
  const own = missed.filter((one) => all.some(({ name }) => name === one.campaign));
  const pauses: Pause[] = [];
  for (const path of projects.keys()) {
    using ledger = await quietLedger(path, options.now());
    const isHere = (pause: Pause) => pause.id === null || all.some(({ id }) => id === pause.id);
    pauses.push(...(ledger?.pauses() ?? []).filter(isHere));
  }
  return { campaigns: times, followUps: following, refused, missed: own, pauses };
}

/** Says which files were read, for a user whose campaign with a schedule is in another folder. */
export const NOTHING_SCHEDULED =
  'No campaign here has a schedule. With a PATH, handbill looks at what it names; without one, at every campaigns/**/campaign.yaml below this folder.';

export interface Automatic {
  readonly campaign: Campaign;
  readonly path: string;
  /** Why the ledger must not be used. */
  readonly ledgerFault: Diagnostic | null;
}

export interface Scheduled extends Automatic {
  readonly schedule: Schedule;
  readonly clock: CronClock;
}

export interface Following extends Automatic {
  readonly after: FollowUp;
}

/**
 * Campaigns with a schedule, by path. An invalid one counts only with a schedule: the draft of another campaign must
 * not disturb those that are sent automatically. `byHand`: those without a schedule that a path names by itself, not with
 * others of a folder. Throws exit 2 if a path names no campaign.
 */
export async function readScheduled(
  paths: readonly string[],
  options: Omit<ResolvedOptions, 'now'> & { readonly side?: ComparedSide | undefined; readonly byHand?: boolean },
) {
  const cwd = await realpath(options.cwd);
  const found = findCampaigns(paths, cwd);
  if (found.diagnostics.length > 0) throw new HandbillError(EXIT.refused, found.diagnostics);
  const projects = projectsFrom(cwd);
  const campaigns: Scheduled[] = [];
  const followUps: Following[] = [];
  const byHand: Automatic[] = [];
  const refused: ScheduleResult['refused'][number][] = [];
  const named = new Set(options.byHand === true ? await Promise.all(paths.map((path) => namedBy(path, cwd))) : []);
  for (const path of found.files) {
    // Does not parse the file: most campaigns of a large project have no schedule, and `due` runs every few minutes.
    const read = readSmallFile(path, MAX_YAML_BYTES);
    const isAutomatic = !('bytes' in read) || /\b(?:schedule|after)["']?\s*:/.test(Buffer.from(read.bytes).toString());
    if (!isAutomatic && !named.has(path)) continue;
    const { campaign, diagnostics, ledgerFault } = await readCampaign(path, {
      ...options,
      ...present({ recipients: options.side?.listOf(path) }),
      cwd,
      ...('bytes' in read ? { read } : {}),
      ...projects(path),
    });
    if (campaign === null) refused.push({ file: displayPath(path, cwd), diagnostics });
    else if (campaign.schedule !== null) {
      const clock = await clockOf(campaign.schedule);
      campaigns.push({ campaign, schedule: campaign.schedule, clock, path, ledgerFault });
    } else if (campaign.after !== null) followUps.push({ campaign, after: campaign.after, path, ledgerFault });
    else if (named.has(path)) byHand.push({ campaign, path, ledgerFault });
  }
  return { campaigns, followUps, byHand, refused };
}

/** The file of the campaign that a path names by itself: by its name, its file or its own folder. */
function namedBy(path: string, cwd: string): string | undefined {
  const [file, ...more] = findCampaigns([path], cwd).files;
  const full = resolve(cwd, path);
  const isOther = more.length > 0 || file === undefined || (dirname(file) !== full && file.startsWith(`${full}${sep}`));
  return isOther ? undefined : file;
}

export const CALLERS = ['crontab', 'systemd', 'kubernetes', 'github-actions'] as const;
export type CallerKind = (typeof CALLERS)[number];

/** handbill's own script, beside which this one lies in a folder: as sources or as they were built. */
const SCRIPT = join(import.meta.dirname, '..', import.meta.filename.endsWith('.ts') ? 'cli.ts' : 'cli.js');

export const CALLER = {
  environment: {
    flag: '--env <name>',
    says: 'environment to send to (default: HANDBILL_ENV, else the only one of handbill.yaml)',
    without: 'the only one of handbill.yaml',
    kind: 'only-environment',
  },
  // Not `--env-file`: node would take that for its own, and fail where the file is not on this machine.
  envFile: {
    flag: '--environment-file <file>',
    says: 'crontab, systemd: file of lines NAME=value with the key',
    without: 'none',
  },
  image: {
    flag: '--image <image>',
    says: 'kubernetes: container image with the project and handbill',
    without: 'refused there',
  },
  folder: { flag: '--folder <folder>', says: 'kubernetes: folder of the project in the image (default: /campaigns)' },
  runner: {
    flag: '--runner <label>',
    says: 'github-actions: your own runner, which keeps its disk',
    without: 'refused there',
  },
} as const satisfies OptionTable;

/** The scheduler, and the environment that it sends to. */
export interface CallerOptions extends ProjectOptions, OptionsOf<typeof CALLER> {
  /** Program that is called, and its first arguments, absolute. Default: this Node.js with the script of this package. */
  readonly program?: readonly string[];
  /** The user of a systemd service. Default: the user of this process. */
  readonly user?: string;
}

/**
 * `handbill schedule --format`: the files for cron, systemd and the like that run `handbill due` every few minutes,
 * from the project's root, with absolute paths and without a terminal.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 if something that the scheduler needs is missing, or the machine does not keep its disk
 */
export async function scheduleCallers(
  kind: CallerKind,
  paths: readonly string[] = [],
  given: CallerOptions = {},
): Promise<readonly CallerFile[]> {
  const options = withDefaults(given);
  const nowMs = options.now();
  const { cwd, env, ledger } = options;
  const { campaigns, followUps, refused } = await readScheduled(paths, { cwd, env, ledger });
  const problems = refused.flatMap(({ diagnostics }) => diagnostics);
  if (problems.length > 0) throw new HandbillError(EXIT.refused, problems);
  const all = [...campaigns, ...followUps];
  const [first] = all.map(({ campaign }) => campaign);
  if (first === undefined) throw nothingScheduled();
  const { root } = first.project;
  const stranger = all.find(({ campaign }) => campaign.project.root !== root);
  if (stranger !== undefined) throw severalProjects(first, stranger.campaign);

  const onServer = isPostgres(first.project.ledger);
  const isOutside = all.some(({ campaign }) => !isInside(root, campaign.recipients.path));
  const named = options.environment ?? onlyEnvironment(first.project);
  if (named === null) {
    const known = [...first.project.environments.keys()].filter((name) => name !== 'sandbox');
    const hint = `Add --env; known here: ${known.join(', ')}.`;
    throw refuse(problem('usage', 'There are several environments.', { hint }));
  }
  const environment = environmentOf(first, named);
  const campaignPaths =
    paths.length === 0 ? [] : all.map(({ path }) => `./${relative(root, path).replaceAll(sep, '/')}`);
  if (environment.approval !== null && environment.approval.standing === null) {
    const message = `${environment.name} takes approved plans alone, so that nothing can send to it by itself.`;
    const hint =
      'Allow `standingApprovals` there in handbill.yaml, or name another environment with --env, without `approvers`.';
    throw refuse(problem('not-approved', message, { hint }));
  }
  const args = (ledger: readonly string[]): string[] => [
    ...['due', ...campaignPaths, '--env', environment.name, '--yes', '--quiet'],
    ...ledger,
  ];
  const here = ledger === undefined ? [] : ['--ledger', first.project.ledger];
  const caller: Caller = {
    program: options.program ?? [process.execPath, SCRIPT],
    args: args(kind === 'kubernetes' || onServer ? [] : here),
    root,
    environment: environment.name,
    everyMinutes: minutesBetweenCalls(campaigns, nowMs),
    timeoutMs: Math.max(...all.map(({ campaign }) => campaign.send.timeoutMs)),
    secrets: Object.values(environment.secrets ?? {}).flatMap((source) => ('env' in source ? [source.env] : [])),
    lists: isOutside ? (options.env['HANDBILL_LISTS'] ?? null) : null,
    envFile: options.envFile === undefined ? null : resolve(cwd, options.envFile),
  };
  const repository = repositoryOf(root);
  const isBelow = repository !== null && repository !== root;
  const below = isBelow ? relative(repository, root).replaceAll(sep, '/') : null;
  switch (kind) {
    case 'crontab':
      return crontab(withServer(await withoutKept(caller), onServer), word);
    case 'systemd':
      return systemd(withServer(await withoutKept(caller), onServer), options.user ?? userInfo().username);
    case 'kubernetes':
      if (options.image === undefined) {
        const hint = 'Add --image IMAGE: it holds the project, with handbill in its node_modules.';
        throw refuse(problem('usage', 'A CronJob needs a container image.', { hint }));
      }
      return kubernetes(caller, { image: options.image, folder: options.folder ?? '/campaigns', onServer });
    default:
      refuseForgetful(options, onServer);
      return gitHubActions(caller, { runner: options.runner ?? null, folder: below, onServer }, word);
  }
}

/** How often `due` has to be called for these campaigns. */
export function minutesBetweenCalls(campaigns: readonly Scheduled[], nowMs: number) {
  const spans = campaigns.flatMap(({ campaign }) => spanIn(campaign) ?? []);
  return everyMinutes(
    campaigns.map(({ clock }) => clock),
    nowMs,
    spans,
  );
}

/** For how long each of its rows may be sent to, in ms; null: they have no times. */
export function spanIn({ validity, recipients: { each } }: Campaign): number | null {
  return each === null ? null : spanOfRow(validity, each);
}

/** Options are no words that a shell could take for anything else. */
function word(text: string): string {
  return /^--[a-z-]+$/.test(text) ? text : shellWord(text);
}

async function withoutKept(caller: Caller): Promise<Caller> {
  const kept = parseEnv(await readFile(join(caller.root, '.env'), 'utf8').catch(() => ''));
  return { ...caller, secrets: caller.secrets.filter((name) => kept[name] === undefined) };
}

/** The URL of a server may hold a password, which an argument would show to every user of the machine. */
function withServer(caller: Caller, onServer: boolean): Caller {
  return onServer ? { ...caller, secrets: [...caller.secrets, 'HANDBILL_LEDGER'] } : caller;
}

/** A ledger that a runner throws away would let the next one send everything again. */
function refuseForgetful({ runner, ledger }: CallerOptions, onServer: boolean): void {
  if (onServer) return;
  if (runner === undefined) {
    const message =
      'A GitHub-hosted runner loses its disk, and with it the ledger: the next one would send it all again.';
    const hint =
      'Use a ledger on a server: --ledger postgres://... (docs/shared-ledger.md). Or your own runner, which keeps ' +
      'its disk: --runner LABEL --ledger /path';
    throw refuse(problem('usage', message, { hint }));
  }
  if (ledger !== undefined) return;
  const message = 'A checkout cleans the folder of the repository, and a ledger in it would be gone.';
  throw refuse(problem('usage', message, { hint: 'Add --ledger /path, outside of the runner’s work folder.' }));
}

export function nothingScheduled(): HandbillError {
  const hint =
    'Give one a schedule: { cron: 0 9 * * 1-5, timeZone: Europe/London }, or { at: 2026-12-24T09:00 }. ' +
    '`handbill rehearse NAME` plays a campaign that you send by hand.';
  return refuse(problem('usage', NOTHING_SCHEDULED, { hint }));
}

export function severalProjects(one: Campaign, other: Campaign): HandbillError {
  const message = `${one.file} and ${other.file} belong to different projects.`;
  return refuse(problem('usage', message, { hint: 'Name campaigns of one project, or go to its folder.' }));
}
