import { stringify } from 'yaml';
import { problem, refuse } from '../errors.ts';
import type { CronClock } from '../util/cron.ts';

export interface Caller {
  /** Absolute paths: the caller's PATH is not usable. */
  readonly program: readonly string[];
  readonly args: readonly string[];
  /** Absolute path of the project's root, where it is called. */
  readonly root: string;
  readonly environment: string;
  readonly everyMinutes: EveryMinutes;
  /** The longest that one request may take: so long it takes to stop in good order. */
  readonly timeoutMs: number;
  /** Variables that hold secrets, by name; for a call on this machine without those of `.env`, which `due` reads. */
  readonly secrets: readonly string[];
  /** HANDBILL_LISTS, from whose folders lists are read; null: all lists are in the project. */
  readonly lists: string | null;
  /** A file of lines `NAME=value`, absolute; null: none was named. */
  readonly envFile: string | null;
}

/** A file that was made, and where it belongs. */
export interface CallerFile {
  readonly name: string;
  readonly text: string;
}

type EveryMinutes = 1 | 5;

/** Campaigns repeat their minutes within about a day. */
const LOOKED_AT = 150;

/**
 * Every 5 minutes if all instants lie on such, else every minute, so that `due` meets each within its minute.
 * @param spansMs - how long a row with a time may be sent to: a call has to come within it
 */
export function everyMinutes(clocks: readonly CronClock[], fromMs: number, spansMs: readonly number[]): EveryMinutes {
  if (spansMs.some((ms) => ms < FIVE_MINUTES_MS)) return 1;
  const isCoarse = clocks.every((clock) => {
    let at = clock.next(fromMs);
    for (let i = 0; i < LOOKED_AT && at !== null; i += 1) {
      if (at % FIVE_MINUTES_MS !== 0) return false;
      at = clock.next(at);
    }
    return true;
  });
  return isCoarse ? 5 : 1;
}

const FIVE_MINUTES_MS = 5 * 60_000;

/** For the request in flight, and the ledger. */
function stopSeconds(timeoutMs: number): number {
  return Math.ceil(timeoutMs / 1000) + 10;
}

/** @throws HandbillError exit 2: a path holds what cannot be quoted in a line that another program reads */
function refuseUnquotable(words: readonly string[], what: string, pattern: RegExp): void {
  const found = words.find((word) => pattern.test(word));
  if (found === undefined) return;
  const hint = 'Give the file or folder another name.';
  throw refuse(problem('usage', `${what} cannot hold the path ${JSON.stringify(found)}.`, { hint }));
}

/** No format here takes line breaks and what terminals obey. */
const CONTROL = /\p{Cc}/u;

/** As in names of units and jobs, which take little more than letters: `production`. */
function jobName(environment: string): string {
  return `handbill-due-${environment}`;
}

/** cron has hardly any environment and another folder, takes `%` for a line break, and mails all output. */
export function crontab(caller: Caller, quote: (word: string) => string): readonly CallerFile[] {
  const { program, args, root, envFile, everyMinutes, lists } = caller;
  const [node = '', ...script] = program;
  const words = [node, ...(envFile === null ? [] : [`--env-file=${envFile}`]), ...script, ...args];
  refuseUnquotable([root, ...words], 'A crontab', CONTROL);
  refuseUnquotable([lists ?? ''], 'A crontab', BARE_UNSAFE);
  const command = `cd ${quote(root)} && exec ${words.map(quote).join(' ')}`;
  const lines = [
    '# handbill sends what is due, each occurrence once. Two calls at once do no harm: a run that one of them holds is',
    '# left to it. cron mails what is printed, which is nothing while all is well: MAILTO=... sets the recipient.',
    ...unknownHere('cron', caller),
    'SHELL=/bin/sh',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    ...(lists === null ? [] : [`HANDBILL_LISTS=${lists}`]),
    `${everyMinutes === 1 ? '*' : `*/${everyMinutes}`} * * * * ${command.replaceAll('%', '\\%')}`,
  ];
  return [{ name: 'handbill.crontab', text: `${lines.join('\n')}\n` }];
}

/** `.env` of the project sets secrets alone. */
function unknownHere(who: string, { secrets, envFile }: Caller): readonly string[] {
  return (envFile === null ? secrets : []).map((name) => {
    const where = name === 'HANDBILL_LEDGER' ? '' : 'write it into .env of the project, or ';
    return `# ${who} does not know ${name}: ${where}name a file that sets it with --environment-file.`;
  });
}

/** A unit never overlaps itself, and fires at once when the machine is on again. `user`: the owner of the ledger. */
export function systemd(caller: Caller, user: string): readonly CallerFile[] {
  const { program, args, root, environment, everyMinutes, timeoutMs, envFile, lists } = caller;
  const words = [...program, ...args];
  refuseUnquotable([...words, user], 'A systemd unit', CONTROL);
  // These values are read to the end of the line, and nothing quotes them.
  refuseUnquotable([root, envFile ?? '', lists ?? ''], 'A systemd unit', BARE_UNSAFE);
  const name = jobName(environment);
  const service = [
    '[Unit]',
    `Description=handbill: send what is due (${environment})`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    `User=${specifiers(user)}`,
    `WorkingDirectory=${specifiers(root)}`,
    ...(envFile === null ? [] : [`EnvironmentFile=${specifiers(envFile)}`]),
    ...(lists === null ? [] : [`Environment="HANDBILL_LISTS=${specifiers(lists).replace(/["\\]/g, '\\$&')}"`]),
    ...unknownHere('systemd', caller),
    `ExecStart=${words.map(quoted).join(' ')}`,
    '# A stop by systemd (143) is none of its failures. Every other status is one and shows as such: 2 refused, 3 some',
    '# refused or not reached, 4 in doubt, 5 halted, 7 ledger. OnFailure= can notify you.',
    'SuccessExitStatus=143',
    'TimeoutStartSec=infinity',
    `TimeoutStopSec=${stopSeconds(timeoutMs)}s`,
    'UMask=0077',
    'NoNewPrivileges=true',
    'ProtectSystem=full',
    'PrivateTmp=true',
    'LimitCORE=0',
  ];
  const timer = [
    '[Unit]',
    `Description=handbill: look for what is due (${environment})`,
    '',
    '[Timer]',
    `OnCalendar=${calendar(everyMinutes)}`,
    'AccuracySec=1s',
    'Persistent=true',
    '',
    '[Install]',
    'WantedBy=timers.target',
  ];
  return [
    { name: `${name}.service`, text: `${service.join('\n')}\n` },
    { name: `${name}.timer`, text: `${timer.join('\n')}\n` },
  ];
}

/** The timer is in UTC, which has no summer time. */
function calendar(everyMinutes: number): string {
  return everyMinutes === 1 ? '*-*-* *:*:00 UTC' : `*-*-* *:00/${everyMinutes}:00 UTC`;
}

/** Quoted, and without specifiers or variables. */
function quoted(word: string): string {
  const plain = specifiers(word).replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function specifiers(value: string): string {
  return value.replaceAll('%', '%%');
}

const BARE_UNSAFE = /\p{Cc}|^\s|\s$|\\$/u;

interface KubernetesOptions {
  /** Holds the project and handbill in its node_modules. */
  readonly image: string;
  /** The project's root in the image. */
  readonly folder: string;
  /** A ledger on a database server, whose address is a secret; else it lies on a volume. */
  readonly onServer: boolean;
}

/** A pod loses its disk, and with it the record of who was sent to. */
const VOLUME_FOLDER = '/var/lib/handbill';
/** The root of the volume is open to its group, and handbill refuses such a ledger. */
const LEDGER = `${VOLUME_FOLDER}/ledger/ledger.db`;

export function kubernetes(caller: Caller, options: KubernetesOptions): readonly CallerFile[] {
  const { environment, secrets, args, lists } = caller;
  refuseUnquotable([options.image, options.folder, lists ?? '', ...args], 'A manifest', CONTROL);
  const name = jobName(environment);
  const documents = [...(options.onServer ? [] : [claim(name)]), cronJob(name, caller, options)];
  const keys = [...secrets, ...(options.onServer ? ['HANDBILL_LEDGER'] : [])];
  const comment = [
    '# handbill sends what is due, each occurrence once. A pod that is run twice or killed sends no message twice,',
    '# because the ledger outlives it.',
    ...(options.onServer
      ? []
      : ['# The volume must be a disk, not a network file system: locks cannot be trusted there.']),
    ...(keys.length === 0 ? [] : [`# Needs the secret "${SECRET}" with ${keys.join(', ')}.`]),
    ...(lists === null
      ? []
      : [`# Lists are read from ${lists}: mount a volume there, into which the export writes them.`]),
  ];
  const text = documents.map((document) => stringify(document, { lineWidth: 0 })).join('---\n');
  return [{ name: `${name}.yaml`, text: `${comment.join('\n')}\n${text}` }];
}

const SECRET = 'handbill';

function claim(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `${name}-ledger` },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

function cronJob(name: string, caller: Caller, options: KubernetesOptions): object {
  const { everyMinutes, timeoutMs } = caller;
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    spec: {
      schedule: everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`,
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      // After more than 100 missed starts a CronJob without this never starts again.
      startingDeadlineSeconds: everyMinutes * 60 - 10,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 5,
      jobTemplate: {
        spec: {
          // The next call continues what this one left; a second pod at once would only say the same again.
          backoffLimit: 0,
          template: {
            spec: {
              restartPolicy: 'Never',
              terminationGracePeriodSeconds: stopSeconds(timeoutMs),
              automountServiceAccountToken: false,
              securityContext: {
                runAsNonRoot: true,
                runAsUser: 1000,
                runAsGroup: 1000,
                fsGroup: 1000,
                seccompProfile: { type: 'RuntimeDefault' },
              },
              containers: [container(caller, options)],
              ...(options.onServer
                ? {}
                : { volumes: [{ name: 'ledger', persistentVolumeClaim: { claimName: `${name}-ledger` } }] }),
            },
          },
        },
      },
    },
  };
}

function container({ args, secrets, lists }: Caller, { image, folder, onServer }: KubernetesOptions): object {
  const keys = [...secrets, ...(onServer ? ['HANDBILL_LEDGER'] : [])];
  const env = [
    ...keys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: SECRET, key } } })),
    ...(lists === null ? [] : [{ name: 'HANDBILL_LISTS', value: lists.replaceAll('$(', '$$(') }]),
  ];
  return {
    name: 'handbill',
    image,
    workingDir: folder,
    command: ['node_modules/.bin/handbill'],
    // $(NAME) would be the value of a variable.
    args: [...args, ...(onServer ? [] : ['--ledger', LEDGER])].map((arg) => arg.replaceAll('$(', '$$(')),
    ...(env.length === 0 ? {} : { env }),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    ...(onServer ? {} : { volumeMounts: [{ name: 'ledger', mountPath: VOLUME_FOLDER }] }),
  };
}

interface GitHubOptions {
  /** Labels of a runner of one's own, which keeps the ledger; null: a runner of GitHub's, which forgets its disk. */
  readonly runner: string | null;
  /** The project's root below that of the repository, with `/`; null: it is that. */
  readonly folder: string | null;
  /** A ledger on a database server, whose address is a secret. */
  readonly onServer: boolean;
}

const SHORTEST_MINUTES = 5;

/** GitHub's schedule is in UTC, comes late and sometimes not at all: it only says how often to ask what is due. */
export function gitHubActions(
  caller: Caller,
  options: GitHubOptions,
  quote: (word: string) => string,
): readonly CallerFile[] {
  const { environment, args, secrets, timeoutMs, lists } = caller;
  const { runner, folder, onServer } = options;
  // ${{ }} is evaluated in any place.
  refuseUnquotable(
    [...args, folder ?? '', runner ?? '', lists ?? ''],
    'A workflow',
    new RegExp(`${CONTROL.source}|\\$\\{\\{`, 'u'),
  );
  const name = jobName(environment);
  const keys = [...secrets, ...(onServer ? ['HANDBILL_LEDGER'] : [])];
  const env = {
    ...Object.fromEntries(keys.map((key) => [key, `\${{ secrets.${key} }}`])),
    ...(lists === null ? {} : { HANDBILL_LISTS: lists }),
  };
  const workflow = {
    name: `handbill due (${environment})`,
    on: { schedule: [{ cron: `*/${SHORTEST_MINUTES} * * * *` }], workflow_dispatch: {} },
    permissions: { contents: 'read' },
    concurrency: { group: name, 'cancel-in-progress': false },
    jobs: {
      due: {
        'runs-on': runner ?? 'ubuntu-latest',
        ...(folder === null ? {} : { defaults: { run: { 'working-directory': folder } } }),
        steps: [
          { uses: 'actions/checkout@v5', with: { 'persist-credentials': false } },
          { uses: 'actions/setup-node@v5', with: { 'node-version': 24 } },
          { run: 'npm ci' },
          {
            run: `npx handbill ${args.map(quote).join(' ')}`,
            ...(Object.keys(env).length === 0 ? {} : { env }),
          },
        ],
      },
    },
  };
  const comment = [
    '# handbill sends what is due, each occurrence once. The zone of each campaign is its own: this schedule is in UTC, and',
    '# GitHub may be late or leave one out, so that `missed: catch-up` is what a campaign wants here. Each call takes a',
    `# minute of a runner; make them rarer where late is good enough. A stop takes up to ${stopSeconds(timeoutMs)} seconds.`,
    ...listComment(lists, runner),
    ...(onServer ? [] : ['# The runner is one that keeps its disk: the ledger on it knows who has been sent to.']),
  ];
  const text = stringify(workflow, { lineWidth: 0 });
  return [{ name: `${name}.yml`, text: `${comment.join('\n')}\n${text}` }];
}

/** A runner's checkout holds only committed files. */
function listComment(lists: string | null, runner: string | null): readonly string[] {
  if (lists === null) {
    return [
      '# Lists are read from the checkout: as they are committed, because actions/checkout removes all other files. Lists',
      '# of an export are kept elsewhere on your own runner: HANDBILL_LISTS names their folder.',
    ];
  }
  return runner === null
    ? [`# Lists are read from ${lists}: a step before the last has to fetch them there.`]
    : [`# Lists are read from ${lists} on the runner, where an export has to write them.`];
}
