import { type Diagnostic, type Position, warning } from '../errors.ts';
import type { Decision, JsonObject } from '../model.ts';
import { show } from '../recipients/show.ts';
import { number } from '../report/words.ts';
import { compared, holdsNothing } from '../util/cell.ts';
import { isMapping, textsIn } from '../util/json.ts';
import { listWithAnd } from '../util/words.ts';
import type { Plan } from './plan.ts';

interface LanguageColumn {
  readonly index: number;
  readonly name: string;
  /** The first condition that asks for it. */
  readonly at: Position;
  /** The values that conditions name. */
  readonly known: Set<string>;
  /** Recipients without a variant, by value. */
  readonly counts: Map<string, number>;
}

/** Few, so that a column that holds something else costs no memory. */
const MOST_VALUES = 1000;
const MOST_NAMED = 3;

const LANGUAGE = /lang|locale|sprach|idioma|lingua|taal|iaith/i;

/**
 * Finds languages of recipients for which there is no variant. A column is one of languages if its name says so, or if a
 * variant with a `locale` asks there for the language of that locale. Null: no variant asks for such a column.
 */
export function createLanguageCheck({ campaign, columns }: Pick<Plan, 'campaign' | 'columns'>) {
  const conditional = new Set<string | null>();
  const found = new Map<number, LanguageColumn>();
  const languages = new Set<number>();
  for (const { name, where, step } of campaign.variants) {
    if (where === null) continue;
    conditional.add(name);
    for (const [column, value] of valuesIn(where.query)) {
      const index = columns.indexOf(column);
      const one = found.get(index) ?? { index, name: column, at: where.at, known: new Set(), counts: new Map() };
      found.set(index, one);
      one.known.add(compared(value));
      const isOwn = step.locale !== campaign.locale && languageOf(value) === languageOf(step.locale);
      if (isOwn || LANGUAGE.test(column)) languages.add(index);
    }
  }
  const asked = [...found.values()].filter(({ index }) => languages.has(index));
  if (asked.length === 0) return null;
  let recipients = 0;
  return {
    add(decision: Decision): void {
      if (decision.decision !== 'send' && decision.decision !== 'defer') return;
      recipients += 1;
      const first = decision.decision === 'send' ? decision : decision.mayGet[0];
      if (first === undefined || conditional.has(first.variant)) return;
      for (const { index, known, counts } of asked) {
        const value = compared(decision.recipient.values[index] ?? '');
        if (holdsNothing(value) || known.has(value)) continue;
        const before = counts.get(value);
        if (before !== undefined || counts.size < MOST_VALUES) counts.set(value, (before ?? 0) + 1);
      }
    },
    warnings: (): readonly Diagnostic[] =>
      asked.flatMap(({ name, at, known, counts }) => {
        if (counts.size === 0) return [];
        // The tag of the language, and its names in English and in itself: `de`, `german`, `deutsch`.
        const tag = languageOf(campaign.locale);
        const names = ['en', tag].map((reader) => new Intl.DisplayNames(reader, { type: 'language' }).of(tag) ?? tag);
        const own = new Set([tag, ...names.map((name) => name.toLowerCase())]);
        const left = [...counts].filter(([value]) => !own.has(languageOf(value))).sort(([, a], [, b]) => b - a);
        const [first] = left;
        if (first === undefined) return [];
        const others = left.slice(MOST_NAMED).reduce((sum, [, count]) => sum + count, 0);
        const said = [
          ...left.slice(0, MOST_NAMED).map(([value, count]) => `${number(count)} with ${show(value)}`),
          ...(others === 0 ? [] : [`${number(others)} with other values`]),
        ];
        const message = `Of ${number(recipients)} recipients, ${listWithAnd(said)} in the column "${name}" have no variant.`;
        const isTest = campaign.variants.some(({ where }) => where === null);
        const hint = isTest
          ? 'Add a variant for them, or add the value to a condition.'
          : `Add a variant for them. Where the message of the campaign, whose \`locale\` is ${campaign.locale}, is right for them, add one with \`name\` and \`where\` alone.`;
        return [warning('no-variant', message, { at, hint: spellingOf(left, known) ?? hint })];
      }),
  };
}

/** `it-IT` in the list, and `it` in a condition: case and region count. */
function spellingOf(left: readonly (readonly [value: string, count: number])[], known: ReadonlySet<string>) {
  for (const [value] of left) {
    const same = [...known].find((one) => languageOf(one) === languageOf(value));
    if (same !== undefined)
      return `A condition asks for ${show(same)}: write ${show(value)} beside it, or correct the list.`;
  }
  return null;
}

function valuesIn(query: JsonObject): readonly (readonly [column: string, value: string])[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (!name.startsWith('$')) return textsIn(value).map((text) => [compared(name), text] as const);
    return Array.isArray(value) ? value.filter(isMapping).flatMap(valuesIn) : [];
  });
}

/** `de` for `de-AT`, `DE`, `de_DE` and `ger`; else the text in lower case. */
function languageOf(text: string): string {
  try {
    return new Intl.Locale(text.replaceAll('_', '-')).language;
  } catch {
    return text.toLowerCase();
  }
}
