/** handbill beside what people write by hand, one line for each program instead of one for each figure. */
import type { Kept } from '../test/bench/figures.ts';
import { table } from './docs-markdown.ts';
import { valueWords } from './figures-words.ts';

/** Columns by what ids end in. */
const COLUMNS: Readonly<Record<string, string>> = {
  'messages-per-second': 'messages/s',
  'wall-messages-per-second': 'messages/s, start to end of the process',
  cpu: 'µs CPU per message, without the start',
  peak: 'peak memory, MB',
  'receiver-busy': 'receiver busy, %',
  'not-once': 'people without exactly one message',
  'kept-wrong-numbers': 'messages to a wrong number',
  'kept-twice': 'repeated messages',
  'kept-missed': 'people not reached',
  'wrong-texts': 'wrong texts',
};

/** The program and the column that a figure belongs to; null for figures that belong to no program. */
function placeOf({ id }: Kept): { readonly program: string; readonly column: string } | null {
  const [, program = '', column = ''] = /^(handbill|peer-[a-z]+)-(.+)$/.exec(id) ?? [];
  return column in COLUMNS ? { program, column } : null;
}

/** Figures that the table of programs has no place for. */
export function besidePeers(figures: readonly Kept[]): readonly Kept[] {
  return figures.filter((figure) => placeOf(figure) === null);
}

/** The table of programs, the fastest first; nothing where none was measured. */
export function peersTable(figures: readonly Kept[]): string | null {
  const programs = Map.groupBy(
    figures.filter((figure) => placeOf(figure) !== null),
    (figure) => placeOf(figure)?.program,
  );
  if (programs.size === 0) return null;
  const find = (own: readonly Kept[], column: string) => own.find((figure) => placeOf(figure)?.column === column);
  const speedOf = (own: readonly Kept[]): number => find(own, 'messages-per-second')?.value ?? 0;
  const rows = [...programs.values()]
    .toSorted((a, b) => speedOf(b) - speedOf(a))
    .map((own) => [
      own[0]?.what.replace(/,.*$/, '') ?? '',
      ...Object.keys(COLUMNS).map((column) => {
        const figure = find(own, column);
        return figure === undefined ? '' : valueWords(figure);
      }),
    ]);
  return table(['program', ...Object.values(COLUMNS)], rows);
}
