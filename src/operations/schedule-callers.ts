import { join, relative, resolve, sep } from 'node:path';
import { onlyEnvironment } from '../campaign/environments.ts';
import { repositoryOf } from '../campaign/place.ts';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Campaign } from '../model.ts';
import { environmentOf } from '../plan/plan.ts';
import { type Caller, type CallerFile, everyMinutes } from '../schedule/caller.ts';
import { crontab } from '../schedule/crontab.ts';
import { gitHubActions } from '../schedule/github-actions.ts';
import { kubernetes } from '../schedule/kubernetes.ts';
import { systemd } from '../schedule/systemd.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { shellWord } from '../util/shell.ts';
import { NOTHING_SCHEDULED, readScheduled } from './schedule-campaigns.ts';

export const CALLERS = ['crontab', 'systemd', 'kubernetes', 'github-actions'] as const;
export type CallerKind = (typeof CALLERS)[number];

/** handbill's own script, beside which this one lies in a folder: as sources or as they were built. */
export const SCRIPT = join(import.meta.dirname, '..', import.meta.filename.endsWith('.ts') ? 'cli.ts' : 'cli.js');

export interface CallerOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** Node and handbill's script, absolute. */
  readonly program: readonly string[];
  /** Under whom a service runs. */
  readonly user: string;
  /** Default: the only one of handbill.yaml. */
  readonly environment?: string;
  /** What the caller is to name; relative to the project, or a `postgres://` address. */
  readonly ledger?: string;
  readonly envFile?: string;
  /** Kubernetes: the container image, and the project's folder in it. */
  readonly image?: string;
  readonly folder?: string;
  /** GitHub Actions: the label of a runner of one's own. */
  readonly runner?: string;
}

/**
 * What calls `handbill due` every few minutes, rightly: from the project's root, with absolute paths and without a
 * terminal. A machine that forgets its disk is refused unless the ledger lies elsewhere.
 *
 * @throws HandbillError exit 2
 */
export async function scheduleCallers(
  kind: CallerKind,
  paths: readonly string[],
  options: CallerOptions,
): Promise<readonly CallerFile[]> {
  const nowMs = options.now();
  const { cwd, ledger } = options;
  const { campaigns, refused } = await readScheduled(paths, {
    cwd,
    now: nowMs,
    ...(ledger === undefined ? {} : { ledger }),
  });
  const problems = refused.flatMap(({ diagnostics }) => diagnostics);
  if (problems.length > 0) throw new HandbillError(EXIT.refused, problems);
  const [first] = campaigns.map(({ campaign }) => campaign);
  if (first === undefined) throw nothingScheduled();
  const { root } = first.project;
  const stranger = campaigns.find(({ campaign }) => campaign.project.root !== root);
  if (stranger !== undefined) throw severalProjects(first, stranger.campaign);

  const onServer = isPostgres(first.project.ledger);
  const environment = environmentOf(first, options.environment ?? onlyOf(first));
  const named = paths.length === 0 ? [] : campaigns.map(({ path }) => `./${relative(root, path).replaceAll(sep, '/')}`);
  if (environment.approval !== null) throw takesPlansAlone(environment.name);
  const args = (ledger: readonly string[]): string[] => [
    ...['due', ...named, '--env', environment.name, '--yes', '--quiet'],
    ...ledger,
  ];
  const here = ledger === undefined ? [] : ['--ledger', first.project.ledger];
  const caller: Caller = {
    program: options.program,
    args: args(kind === 'kubernetes' || onServer ? [] : here),
    root,
    environment: environment.name,
    everyMinutes: everyMinutes(
      campaigns.map(({ clock }) => clock),
      nowMs,
    ),
    timeoutMs: Math.max(...campaigns.map(({ campaign }) => campaign.send.timeoutMs)),
    secrets: environment.apiKey !== null && 'env' in environment.apiKey ? [environment.apiKey.env] : [],
    envFile: options.envFile === undefined ? null : resolve(options.cwd, options.envFile),
  };
  switch (kind) {
    case 'crontab':
      return crontab(withServer(caller, onServer), word);
    case 'systemd':
      return systemd(withServer(caller, onServer), options.user);
    case 'kubernetes':
      return kubernetes(caller, { image: imageOf(options), folder: options.folder ?? '/campaigns', onServer });
    default:
      refuseForgetful(options, onServer);
      return gitHubActions(
        caller,
        { runner: options.runner ?? null, folder: await belowRepository(root), onServer },
        word,
      );
  }
}

/** Options are no words that a shell could take for anything else. */
function word(text: string): string {
  return /^--[a-z-]+$/.test(text) ? text : shellWord(text);
}

/** The address of a server may hold a password, which an argument would show to everybody on the machine. */
function withServer(caller: Caller, onServer: boolean): Caller {
  return onServer ? { ...caller, secrets: [...caller.secrets, 'HANDBILL_LEDGER'] } : caller;
}

function onlyOf({ project }: Campaign): string {
  const only = onlyEnvironment(project);
  if (only !== null) return only;
  const hint = `Add --env; known here: ${[...project.environments.keys()].filter((name) => name !== SANDBOX).join(', ')}.`;
  throw refuse(problem('usage', 'There are several environments.', { hint }));
}

function imageOf({ image }: CallerOptions): string {
  if (image !== undefined) return image;
  const hint = 'Add --image IMAGE: it holds the project, with handbill in its node_modules.';
  throw refuse(problem('usage', 'A CronJob needs a container image.', { hint }));
}

/** A ledger that a runner throws away would let the next one send everything again. */
function refuseForgetful({ runner, ledger }: CallerOptions, onServer: boolean): void {
  if (onServer) return;
  if (runner === undefined) {
    const message =
      'A runner of GitHub forgets its disk, and with it whom it has sent to: the next one would send it all again.';
    const hint =
      'Use a runner of your own, which keeps its disk: --runner LABEL --ledger /path. A ledger on a server ' +
      '(--ledger postgres://...) would do too, once handbill can use one.';
    throw refuse(problem('usage', message, { hint }));
  }
  if (ledger !== undefined) return;
  const message = 'A checkout cleans the folder of the repository, and a ledger in it would be gone.';
  throw refuse(problem('usage', message, { hint: 'Add --ledger /path, outside of the runner’s work folder.' }));
}

/** The project's folder below the root of its repository; null where it is that, or in none. */
async function belowRepository(root: string): Promise<string | null> {
  const repository = await repositoryOf(root);
  return repository === null || repository === root ? null : relative(repository, root).replaceAll(sep, '/');
}

function takesPlansAlone(environment: string): HandbillError {
  const message = `${environment} takes approved plans alone, so that nothing can send to it by itself.`;
  return refuse(
    problem('not-approved', message, { hint: 'Name another environment with --env, without `approvers`.' }),
  );
}

function nothingScheduled(): HandbillError {
  const hint = 'Give one a schedule: { cron: 0 9 * * 1-5, timeZone: Europe/London }';
  return refuse(problem('usage', NOTHING_SCHEDULED, { hint }));
}

function severalProjects(one: Campaign, other: Campaign): HandbillError {
  const message = `${one.file} and ${other.file} belong to different projects.`;
  return refuse(problem('usage', message, { hint: 'Name campaigns of one project, or go to its folder.' }));
}

const SANDBOX = 'sandbox';
