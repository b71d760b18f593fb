import { version } from '../operations/version.ts';
import { COMMANDS } from './table.ts';

/**
 * What `handbill --help`, `--version` and `handbill` alone print, or null for every other command line. Written from
 * the table, without commander: loading that takes as long again as Node itself needs to start.
 */
export function overviewFor(args: readonly string[]): { readonly text: string; readonly asked: boolean } | null {
  const [first, ...rest] = args;
  if (first === undefined) return { text: overview(), asked: false };
  if (rest.length > 0) return null;
  if (first === '--help' || first === '-h' || first === 'help') return { text: overview(), asked: true };
  return first === '--version' || first === '-V' ? { text: `${version()}\n`, asked: true } : null;
}

/** The help of handbill as a whole. */
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

Examples:
  handbill validate                    check every campaign below this folder
  handbill preview campaigns/hello     see what each recipient would get
  handbill send campaigns/hello        send it to the sandbox on this machine
  handbill send campaigns/hello --env production
  handbill report hello --format csv -o results.csv
`;
