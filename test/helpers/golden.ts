import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';

const FOLDER = join(import.meta.dirname, '..', 'golden');

/**
 * A test of a table in `test/golden`: inputs, each with all that handbill answers. `vitest FILE -u` writes the answers
 * anew; inputs and comments stay. A case is a line, or a block that ends with an empty line:
 *
 * ```text
 * # a comment
 * input => the answer
 *
 * === label
 * | input, line by line; where there is none, the label is the input
 * the answer, line by line
 * ```
 *
 * @param say - answers an input with a text, texts or data; the text of an error is an answer too
 */
export function golden(title: string, name: string, say: (input: string, label: string) => unknown): void {
  // A table has as long as all its cases by themselves.
  it(title, { timeout: 300_000 }, async () => {
    const path = join(FOLDER, `${name}.txt`);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const written: string[] = [];
    let cases = 0;
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? '';
      if (line === '' || line.startsWith('#')) {
        written.push(line);
        continue;
      }
      cases += 1;
      if (!line.startsWith('=== ')) {
        const [input = ''] = line.split(' =>', 1);
        written.push(`${input} => ${(await saidOf(say, input, input)).join(' / ')}`);
        continue;
      }
      const end = lines.indexOf('', at);
      const block = lines.slice(at + 1, end === -1 ? lines.length : end);
      const label = line.slice(4);
      const said = block.findIndex((one) => !one.startsWith('|'));
      const inputs = said === -1 ? block : block.slice(0, said);
      const input = inputs.length === 0 ? label : inputs.map((one) => one.slice(2)).join('\n');
      written.push(line, ...inputs, ...(await saidOf(say, input, label)));
      at += block.length;
    }
    expect(cases).toBeGreaterThan(0);
    await expect(`${written.join('\n')}\n`).toMatchFileSnapshot(path);
  });
}

/** `code line:column message (hint)` of each diagnostic, with the file where it is not `file`. */
export function diagnosticLines(diagnostics: readonly Diagnostic[], file?: string): readonly string[] {
  return diagnostics.map(({ code, severity, message, at, hint }) => {
    const place = at === undefined ? '' : ` ${at.file === file ? '' : `${at.file}:`}${at.line}:${at.column}`;
    return `${severity === 'error' ? '' : `${severity} `}${code}${place} ${message}${hint === undefined ? '' : ` (${hint})`}`;
  });
}

/** Lines without one that is empty, because that ends a case. */
async function saidOf(say: Parameters<typeof golden>[2], input: string, label: string): Promise<readonly string[]> {
  const said = await Promise.resolve()
    .then(() => say(decoded(input), label))
    .catch((error: Error) => {
      if (error.name === 'AssertionError') throw error;
      return `throws: ${error.message}`;
    });
  const texts = Array.isArray(said) ? said : typeof said === 'string' ? said.split('\n') : [said];
  const lines = texts.map((one) => (typeof one === 'string' ? one : (JSON.stringify(one) ?? '')));
  if (lines.length === 0) return ['nothing'];
  // The first line that begins so would be an input the next time.
  return lines.map((line, at) => (at === 0 ? encoded(line).replace(/^\|/, '\\u{7c}') : encoded(line)) || '""');
}

/** What cannot be seen, or an editor would change, as JavaScript writes it in a string. */
function encoded(text: string): string {
  const hidden = /(?![\u200c]|\u200d)\p{C}|(?! )\p{Z}| $/gu;
  return text.replace(hidden, (one) => SHORT[one] ?? `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\r': '\\r', '\n': '\\n', '\0': '\\0' };

function decoded(text: string): string {
  return text.replace(/\\(?:u\{([0-9a-f]+)\}|([trn0]))/g, (_, code: string | undefined, letter: string) =>
    code === undefined
      ? (Object.entries(SHORT).find(([, short]) => short === `\\${letter}`)?.[0] ?? '')
      : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

/** The words of a command line; those with blanks are in single quotes. */
export function wordsOf(line: string): readonly string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, '$1'));
}

/** What a command has printed, without its empty lines. */
export function printed(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
