import type { Command } from 'commander';
import type { CommandContext } from '../operations/context.ts';
import { version } from '../util/version.ts';

/** In the order of the help, first the commands of a working day: what each is for, and its guide. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly [summary: string, guide?: string]>>>> = {
  'Every day:': {
    init: ['make a project to start from, with a campaign that can be sent to the sandbox at once', 'start'],
    validate: ['check campaigns, every template against every row; sends nothing', 'ci'],
    preview: ['show every decision and the exact requests; sends nothing', 'preview'],
    send: ['send a campaign, or continue where it stopped', 'first-sms'],
    due: ['send every campaign whose schedule says so, each occurrence once', 'schedule'],
    report: ['what became of every recipient of a run', 'report'],
    doubt: ['recipients in doubt: list them, and enter what became of them', 'doubt'],
    replies: ['what people wrote back: read it, have it read, export answers', 'replies'],
    suppress: ['manage the list of those who must not get messages', 'suppression'],
    pause: ['stop everything in an environment, or one campaign there, within a second', 'pause'],
  },
  'More on campaigns:': {
    resume: ['end a pause', 'pause'],
    plan: ['count recipients, parts and cost, and write them to a plan file', 'approval'],
    approve: ['sign a plan that another person made', 'approval'],
    diff: ['what a change in git means: recipients, texts, parts, cost, rules', 'diff'],
    rehearse: ['play the coming days: who gets what, when, at what cost, and who is skipped', 'rehearse'],
    schedule: ['when campaigns go out, and what calls that: cron, systemd, Kubernetes, GitHub Actions', 'schedule'],
    worker: ['work on the runs that others share through a shared ledger; list who does', 'workers'],
  },
  'More on results:': {
    runs: ['the runs in the ledger, last active first', 'provenance'],
    listen: ['receive delivery reports and replies, or import them from exported files', 'webhooks'],
    person: ['all that is known of an address: messages, outcomes, replies, suppression', 'erase-a-person'],
    serve: ['pages over the ledger on this machine: runs, recipients, doubts, replies', 'serve'],
  },
  'More:': {
    purge: ['take personal data out of the ledger, keep counts and suppressions', 'purge-old-data'],
    sandbox: ['serve the API on this machine, with scripted answers', 'sandbox'],
    doctor: ['look at runtime, project, ledger, environments, keys and clock', 'doctor'],
    completion: ['print a completion script for bash, zsh or fish', 'terminal'],
    help: ['a guide, the options of a command, or what the code of an error means'],
  },
};

export const COMMANDS = Object.entries(GROUPS).flatMap(([group, commands]) =>
  Object.entries(commands).map(([name, [summary, guide]]) => ({ name, group, summary, guide })),
);

interface CommandModule {
  configure(command: Command, context: CommandContext): void;
}

/** Imports the module of one command only, so that help and short commands stay quick. */
export async function commandModule(name: string): Promise<CommandModule> {
  if (name === 'resume') return { configure: (await import('./pause/command.ts')).configureResume };
  return await import(`./${name}/command.ts`);
}

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
    const lines = Object.entries(commands).map(([name, [summary]]) => `  ${name.padEnd(width)}  ${summary}\n`);
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
