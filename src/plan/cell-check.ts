import { type Diagnostic, warning } from '../errors.ts';
import type { Decision } from '../model.ts';
import { columnTag } from '../templates/compile.ts';
import { type Doubt, damageText, doubtOf, holdsNothing, trimBlanks } from '../util/cell.ts';
import { codePointOf } from '../util/escape.ts';
import { countOf } from '../util/words.ts';
import type { Plan } from './plan.ts';

type Found = { readonly line: number; readonly cell: string; count: number };

export function createCellCheck({ campaign, compiled }: Pick<Plan, 'campaign' | 'compiled'>) {
  const columns = compiled.shown.map((column) => ({
    ...column,
    padded: null as Found | null,
    isInLink: compiled.links.some((part) => part.column === column.name),
    damaged: new Map<Doubt, Found>(),
  }));
  const { file } = campaign.recipients;
  return {
    add(decision: Decision): void {
      if (decision.decision !== 'send' && decision.decision !== 'defer') return;
      const { line } = decision;
      const { values } = decision.recipient;
      for (const column of columns) {
        const cell = values[column.index] ?? '';
        if (column.whole && isPadded(cell)) column.padded = counted(column.padded, line, cell);
        const found = doubtOf(cell);
        if (found === null || (!column.always && holdsNothing(cell))) continue;
        const { doubt, part } = found;
        if (doubt === 'encoded' && column.isInLink) continue;
        column.damaged.set(doubt, counted(column.damaged.get(doubt) ?? null, line, part));
      }
    },
    warnings: (): readonly Diagnostic[] =>
      columns.flatMap(({ name, padded, damaged }) => [
        ...(padded === null ? [] : [paddedValues(name, padded, file)]),
        ...[...damaged].map(([damage, found]) => damagedValues(name, damage, found, file)),
      ]),
  };
}

function counted(before: Found | null, line: number, cell: string): Found {
  if (before === null) return { line, cell, count: 1 };
  before.count += 1;
  return before;
}

function isPadded(cell: string): boolean {
  const first = cell.charCodeAt(0);
  const last = cell.charCodeAt(cell.length - 1);
  // Most cells begin and end with a letter.
  if (first > 0x20 && first < 0x7f && last > 0x20 && last < 0x7f) return false;
  return !holdsNothing(cell) && trimBlanks(cell) !== cell;
}

function paddedValues(name: string, { line, cell, count }: Found, file: string): Diagnostic {
  const text = trimBlanks(cell);
  const at = cell.indexOf(text);
  const code = codePointOf(at > 0 ? cell : cell.slice(text.length));
  const message = `${countOf(count, 'value')} of the column "${name}" ${count === 1 ? 'has' : 'have'} blanks or unseen characters at an end, which the message shows: ${code} in line ${line}.`;
  const tag = columnTag(name).slice(2, -2);
  return warning('blank-ends', message, { at: { file, line }, hint: `Write {{trim ${tag}}}, or correct the list.` });
}

function damagedValues(name: string, damage: Doubt, { line, cell, count }: Found, file: string): Diagnostic {
  const others = count === 1 ? '' : `, as ${count - 1} further ${count === 2 ? 'row does' : 'rows do'}`;
  const message = `The column "${name}" holds ${damageText(cell, damage)}${others}: the message shows it.`;
  const tag = columnTag(name).slice(2, -2);
  const hint = HINTS[damage] ?? `Write {{default ${tag} "..."}}, which replaces it, or correct the list.`;
  return warning('damaged-value', message, { at: { file, line }, hint });
}

const HINTS: Readonly<Partial<Record<Doubt, string>>> = {
  scientific: 'Give the column the format "Text" in the spreadsheet, and enter the values again.',
  'like-error': 'If a formula made it, correct the list. A text that a person wrote may stay.',
  encoded: 'Export the list again as plain text, or correct it.',
  formula: 'Save the list from the spreadsheet program, which writes results, or correct it.',
};
