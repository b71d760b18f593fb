import { Writable } from 'node:stream';
import type { CommandContext, Terminal } from '../../operations/context.ts';
import { charsFor } from './terminal-chars.ts';

/** A screen that libraries draw on; it ends with `close`. */
export interface Screen extends Writable {
  readonly isTTY: true;
  readonly columns: number;
  readonly rows: number;
  close(): void;
}

/**
 * For libraries that draw: `print` of the context removes keys, and a closed terminal is no error (failures.md, I4).
 * Never hides the cursor, because a killed process could not show it again. Colours and characters depend on the
 * terminal, not on the library's guess.
 */
export function createScreen(
  context: Pick<CommandContext, 'env' | 'colour'>,
  terminal: Terminal,
  print: (text: string) => void,
): Screen {
  const { unicode } = charsFor(context.env, terminal.platform);
  const shown = (text: string): string => {
    const steady = text.replace(CURSOR_OR_SYNCHRONISED, '');
    const coloured = context.colour.err ? steady : steady.replace(COLOUR, '');
    return unicode ? coloured : coloured.replace(DRAWN, (char) => ASCII[char] ?? char);
  };
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      print(shown(String(chunk)));
      done();
    },
  });
  const off = terminal.onResize(() => void stream.emit('resize'));
  return Object.defineProperties(stream, {
    isTTY: { value: true },
    columns: { get: () => terminal.size().columns },
    rows: { get: () => terminal.size().rows },
    close: { value: off },
  }) as Screen;
}

/** Hide and show the cursor; hold back what is drawn, which some terminals print instead. */
const CURSOR_OR_SYNCHRONISED = new RegExp(`${String.fromCharCode(27)}\\[\\?(?:25|2026)[hl]`, 'g');
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** The characters of @clack/prompts in ASCII, of the same width; the library ignores the locale. */
const ASCII: Readonly<Record<string, string>> = {
  '◆': '?',
  '◇': '?',
  '■': 'x',
  '▲': '!',
  '│': '|',
  '┌': '+',
  '└': '+',
  '●': '>',
  '○': ' ',
  '█': '_',
  '•': '*',
  '↑': '^',
  '↓': 'v',
  '…': '~',
  '—': '-',
};
const DRAWN = new RegExp(`[${Object.keys(ASCII).join('')}]`, 'g');
