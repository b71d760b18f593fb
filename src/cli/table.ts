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

const DAILY = 'Every day:';
const CAMPAIGNS = 'More on campaigns:';
const RESULTS = 'More on results:';
const MORE = 'More:';

/** In the order of the help: first the commands of a working day. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'make a project to start from, with a campaign that can be sent to the sandbox at once',
    group: DAILY,
    guide: 'start',
    load: () => import('./init/command.ts'),
  },
  {
    name: 'validate',
    summary: 'check campaigns, every template against every row; sends nothing',
    group: DAILY,
    guide: 'ci',
    load: () => import('./validate/command.ts'),
  },
  {
    name: 'preview',
    summary: 'show every decision and the exact requests; sends nothing',
    group: DAILY,
    guide: 'preview',
    load: () => import('./preview/command.ts'),
  },
  {
    name: 'send',
    summary: 'send a campaign, or continue where it stopped',
    group: DAILY,
    guide: 'first-sms',
    load: () => import('./send/command.ts'),
  },
  {
    name: 'due',
    summary: 'send every campaign whose schedule says so, each occurrence once',
    group: DAILY,
    guide: 'schedule',
    load: () => import('./due/command.ts'),
  },
  {
    name: 'report',
    summary: 'what became of every recipient of a run',
    group: DAILY,
    guide: 'report',
    load: () => import('./report/command.ts'),
  },
  {
    name: 'doubt',
    summary: 'recipients in doubt: list them, and enter what became of them',
    group: DAILY,
    guide: 'doubt',
    load: () => import('./doubt/command.ts'),
  },
  {
    name: 'replies',
    summary: 'what people wrote back: read it, have it read, export answers',
    group: DAILY,
    guide: 'replies',
    load: () => import('./replies/command.ts'),
  },
  {
    name: 'suppress',
    summary: 'manage the list of those who must not get messages',
    group: DAILY,
    guide: 'suppression',
    load: () => import('./suppress/command.ts'),
  },
  {
    name: 'pause',
    summary: 'stop everything in an environment, or one campaign there, within a second',
    group: DAILY,
    guide: 'pause',
    load: () => import('./pause/command.ts'),
  },
  {
    name: 'resume',
    summary: 'end a pause',
    group: CAMPAIGNS,
    guide: 'pause',
    load: async () => ({ configure: (await import('./pause/command.ts')).configureResume }),
  },
  {
    name: 'plan',
    summary: 'count recipients, parts and cost, and write them to a plan file',
    group: CAMPAIGNS,
    guide: 'approval',
    load: () => import('./plan/command.ts'),
  },
  {
    name: 'approve',
    summary: 'sign a plan that another person made',
    group: CAMPAIGNS,
    guide: 'approval',
    load: () => import('./approve/command.ts'),
  },
  {
    name: 'diff',
    summary: 'what a change in git means: recipients, texts, parts, cost, rules',
    group: CAMPAIGNS,
    guide: 'diff',
    load: () => import('./diff/command.ts'),
  },
  {
    name: 'rehearse',
    summary: 'play the coming days: who gets what, when, at what cost, and who is skipped',
    group: CAMPAIGNS,
    guide: 'rehearse',
    load: () => import('./rehearse/command.ts'),
  },
  {
    name: 'schedule',
    summary: 'when campaigns go out, and what calls that: cron, systemd, Kubernetes, GitHub Actions',
    group: CAMPAIGNS,
    guide: 'schedule',
    load: () => import('./schedule/command.ts'),
  },
  {
    name: 'worker',
    summary: 'work on the runs that others share through a shared ledger; list who does',
    group: CAMPAIGNS,
    guide: 'workers',
    load: () => import('./worker/command.ts'),
  },
  {
    name: 'runs',
    summary: 'the runs in the ledger, last active first',
    group: RESULTS,
    guide: 'provenance',
    load: () => import('./runs/command.ts'),
  },
  {
    name: 'listen',
    summary: 'receive delivery reports and replies, or import them from exported files',
    group: RESULTS,
    guide: 'webhooks',
    load: () => import('./listen/command.ts'),
  },
  {
    name: 'person',
    summary: 'all that is known of an address: messages, outcomes, replies, suppression',
    group: RESULTS,
    guide: 'erase-a-person',
    load: () => import('./person/command.ts'),
  },
  {
    name: 'serve',
    summary: 'pages over the ledger on this machine: runs, recipients, doubts, replies',
    group: RESULTS,
    guide: 'serve',
    load: () => import('./serve/command.ts'),
  },
  {
    name: 'purge',
    summary: 'take personal data out of the ledger, keep counts and suppressions',
    group: MORE,
    guide: 'purge-old-data',
    load: () => import('./purge/command.ts'),
  },
  {
    name: 'sandbox',
    summary: 'serve the API on this machine, with scripted answers',
    group: MORE,
    guide: 'sandbox',
    load: () => import('./sandbox/command.ts'),
  },
  {
    name: 'doctor',
    summary: 'look at runtime, project, ledger, environments, keys and clock',
    group: MORE,
    guide: 'doctor',
    load: () => import('./doctor/command.ts'),
  },
  {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    group: MORE,
    guide: 'terminal',
    load: () => import('./completion/command.ts'),
    needsAll: true,
  },
  {
    name: 'help',
    summary: 'a guide, the options of a command, or what the code of an error means',
    group: MORE,
    load: () => import('./help/command.ts'),
  },
];

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
  const groups = [...new Set(COMMANDS.map(({ group }) => group))].map((group) => {
    const lines = COMMANDS.filter((one) => one.group === group).map(
      ({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`,
    );
    return `${group}\n${lines.join('\n')}\n`;
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
