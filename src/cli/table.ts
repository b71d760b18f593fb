import type { Command } from 'commander';
import type { CommandContext } from '../operations/context.ts';
import { version } from '../util/version.ts';

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly guide?: string;
  /** Imports the module: only that of the chosen command, so that help and short commands stay quick. */
  readonly load: () => Promise<{ configure(command: Command, context: CommandContext): void }>;
  readonly needsAll?: true;
}

/** In the order of the help: first the commands of a working day. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Omit<CommandEntry, 'name' | 'group'>>>>> = {
  'Every day:': {
    init: {
      summary: 'make a project to start from, with a campaign that can be sent to the sandbox at once',
      guide: 'start',
      load: () => import('./init/command.ts'),
    },
    validate: {
      summary: 'check campaigns, every template against every row; sends nothing',
      guide: 'ci',
      load: () => import('./validate/command.ts'),
    },
    preview: {
      summary: 'show every decision and the exact requests; sends nothing',
      guide: 'preview',
      load: () => import('./preview/command.ts'),
    },
    send: {
      summary: 'send a campaign, or continue where it stopped',
      guide: 'first-sms',
      load: () => import('./send/command.ts'),
    },
    due: {
      summary: 'send every campaign whose schedule says so, each occurrence once',
      guide: 'schedule',
      load: () => import('./due/command.ts'),
    },
    report: {
      summary: 'what became of every recipient of a run',
      guide: 'report',
      load: () => import('./report/command.ts'),
    },
    doubt: {
      summary: 'recipients in doubt: list them, and enter what became of them',
      guide: 'doubt',
      load: () => import('./doubt/command.ts'),
    },
    replies: {
      summary: 'what people wrote back: read it, have it read, export answers',
      guide: 'replies',
      load: () => import('./replies/command.ts'),
    },
    suppress: {
      summary: 'manage the list of those who must not get messages',
      guide: 'suppression',
      load: () => import('./suppress/command.ts'),
    },
    pause: {
      summary: 'stop everything in an environment, or one campaign there, within a second',
      guide: 'pause',
      load: () => import('./pause/command.ts'),
    },
  },
  'More on campaigns:': {
    resume: {
      summary: 'end a pause',
      guide: 'pause',
      load: async () => ({ configure: (await import('./pause/command.ts')).configureResume }),
    },
    plan: {
      summary: 'count recipients, parts and cost, and write them to a plan file',
      guide: 'approval',
      load: () => import('./plan/command.ts'),
    },
    approve: {
      summary: 'sign a plan that another person made',
      guide: 'approval',
      load: () => import('./approve/command.ts'),
    },
    diff: {
      summary: 'what a change in git means: recipients, texts, parts, cost, rules',
      guide: 'diff',
      load: () => import('./diff/command.ts'),
    },
    rehearse: {
      summary: 'play the coming days: who gets what, when, at what cost, and who is skipped',
      guide: 'rehearse',
      load: () => import('./rehearse/command.ts'),
    },
    schedule: {
      summary: 'when campaigns go out, and what calls that: cron, systemd, Kubernetes, GitHub Actions',
      guide: 'schedule',
      load: () => import('./schedule/command.ts'),
    },
    worker: {
      summary: 'work on the runs that others share through a shared ledger; list who does',
      guide: 'workers',
      load: () => import('./worker/command.ts'),
    },
  },
  'More on results:': {
    runs: {
      summary: 'the runs in the ledger, last active first',
      guide: 'provenance',
      load: () => import('./runs/command.ts'),
    },
    listen: {
      summary: 'receive delivery reports and replies, or import them from exported files',
      guide: 'webhooks',
      load: () => import('./listen/command.ts'),
    },
    person: {
      summary: 'all that is known of an address: messages, outcomes, replies, suppression',
      guide: 'erase-a-person',
      load: () => import('./person/command.ts'),
    },
    serve: {
      summary: 'pages over the ledger on this machine: runs, recipients, doubts, replies',
      guide: 'serve',
      load: () => import('./serve/command.ts'),
    },
  },
  'More:': {
    purge: {
      summary: 'take personal data out of the ledger, keep counts and suppressions',
      guide: 'purge-old-data',
      load: () => import('./purge/command.ts'),
    },
    sandbox: {
      summary: 'serve the API on this machine, with scripted answers',
      guide: 'sandbox',
      load: () => import('./sandbox/command.ts'),
    },
    doctor: {
      summary: 'look at runtime, project, ledger, environments, keys and clock',
      guide: 'doctor',
      load: () => import('./doctor/command.ts'),
    },
    completion: {
      summary: 'print a completion script for bash, zsh or fish',
      guide: 'terminal',
      load: () => import('./completion/command.ts'),
      needsAll: true,
    },
    help: {
      summary: 'a guide, the options of a command, or what the code of an error means',
      load: () => import('./help/command.ts'),
    },
  },
};

export const COMMANDS: readonly CommandEntry[] = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, entry]) => ({ ...entry, name, group })),
);

/** For `--help`, `--version` and no arguments; else null. commander would take as long to load as Node itself. */
export function overviewFor(args: readonly string[]): { readonly text: string; readonly asked: boolean } | null {
  const [first, ...rest] = args;
  if (first === undefined) return { text: overview(), asked: false };
  if (rest.length > 0) return null;
  if (first === '--help' || first === '-h' || first === 'help') return { text: overview(), asked: true };
  return first === '--version' || first === '-V' ? { text: `${version()}\n`, asked: true } : null;
}

export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const groups = Object.entries(GROUPS).map(([group, commands]) => {
    const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`);
    return `${group}\n${lines.join('')}`;
  });
  return `${HEAD}\n${groups.join('\n')}\n${EXAMPLES}`;
}

const HEAD = `Usage: handbill COMMAND [options]

Sends message campaigns from git: checked, previewed, at most once per
recipient, every recipient accounted for.
`;

const EXAMPLES = `Options:
  -V, --version  print the version
  -h, --help     show help; also of a command: handbill send --help
                 handbill help guides lists the guides

Examples:
  handbill validate                    check every campaign below this folder
  handbill preview campaigns/hello     see what each recipient would get
  handbill send campaigns/hello        send it to the sandbox on this machine
  handbill send campaigns/hello --env production
  handbill report hello --format csv -o results.csv
`;
