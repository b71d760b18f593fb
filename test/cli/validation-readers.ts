/** Readers of what `validate` writes for CI systems, each as its system reads it. */

export interface Annotation {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/**
 * The commands in a log, and the lines that are none. As the runner of GitHub does it (`ActionCommand.cs`): a line that
 * begins with `::` after any spaces, and `##[` wherever it is, is a command.
 */
export function readCommands(log: string): {
  readonly commands: readonly Annotation[];
  readonly rest: readonly string[];
} {
  const commands: Annotation[] = [];
  const rest: string[] = [];
  for (const line of log.replace(/\n$/, '').split(/\r\n|\r|\n/)) {
    const found = /^\s*::([^\s:]+)(?: (.*?))?::(.*)$/.exec(line);
    if (found === null) {
      if (line.includes('##[')) throw new Error(`an old command: ${line}`);
      rest.push(line);
      continue;
    }
    const [, name = '', written = '', message = ''] = found;
    const pairs = written.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), unescaped(pair.slice(at + 1), PROPERTY)] as const;
    });
    commands.push({ name, properties: Object.fromEntries(pairs), message: unescaped(message, DATA) });
  }
  return { commands, rest };
}

type Escapes = readonly (readonly [written: string, means: string])[];

const DATA: Escapes = [
  ['%0D', '\r'],
  ['%0A', '\n'],
  ['%25', '%'],
];
const PROPERTY: Escapes = [['%3A', ':'], ['%2C', ','], ...DATA];

function unescaped(text: string, escapes: Escapes): string {
  return escapes.reduce((read, [written, means]) => read.replaceAll(written, means), text);
}
