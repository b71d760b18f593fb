import type { Diagnostic } from '../errors.ts';
import type { Campaign, ListSpec } from '../model.ts';
import { columnTag, compileTemplate, createValues, RenderError } from '../templates/compile.ts';

interface Shown extends Pick<Campaign, 'partials' | 'locale' | 'timeZone'> {
  readonly recipients: Pick<ListSpec, 'display'>;
}

const LONGEST = 200;

/** `recipients.display`, else the columns that usually hold a name. Null: there are none, or an error prevents it. */
export function compileDisplay({ recipients, partials, locale, timeZone }: Shown, columns: readonly string[]) {
  const source = recipients.display ?? usual(columns);
  if (source === null) return { display: null, diagnostics: [] };
  const { template, diagnostics } = compileTemplate(source, { columns, partials, escape: 'none', locale, timeZone });
  if (template === null) {
    const named = (one: Diagnostic) => ({ ...one, message: `recipients.display: ${one.message}` });
    return { display: null, diagnostics: diagnostics.map((one) => (one.code === 'unknown-name' ? named(one) : one)) };
  }
  const valuesOf = createValues(columns, template.columns);
  /** Null: the row has no name. */
  const labelOf = (values: readonly string[]): string | null => {
    try {
      return template.render(valuesOf(values)).replace(/\s+/g, ' ').trim().slice(0, LONGEST) || null;
    } catch (error) {
      // A helper cannot read a cell of this row.
      if (error instanceof RenderError) return null;
      throw error;
    }
  };
  return { display: { labelOf, columns: template.columns }, diagnostics };
}

const FULL = /^(?:full|display|customer)?name$/;
const FIRST = /^(?:first|given|fore)name$/;
const LAST = /^(?:last|family|sur)name$/;

function usual(columns: readonly string[]) {
  const named = (name: RegExp) => columns.find((column) => name.test(column.toLowerCase().replace(/[^a-z]/g, '')));
  const full = named(FULL);
  const parts = (full === undefined ? [named(FIRST), named(LAST)] : [full]).filter((name) => name !== undefined);
  return parts.length === 0 ? null : { text: parts.map(columnTag).join(' '), file: '', line: 1, column: 1 };
}
