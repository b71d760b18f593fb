import { readFileSync } from 'node:fs';
import type { SourceText } from '../../src/model.ts';
import {
  type CompiledTemplate,
  compileTemplate,
  createValues,
  type TemplateOptions,
} from '../../src/templates/compile.ts';

export type Row = Readonly<Record<string, string>>;

export interface Options extends Partial<Omit<TemplateOptions, 'columns' | 'partials'>> {
  readonly partials?: Readonly<Record<string, string>>;
}

/** Text as a file of its own. */
export function source(text: string, file = 'template.hbs'): SourceText {
  return { text, file, line: 1, column: 1 };
}

export function compile(text: string | SourceText, columns: readonly string[], options: Options = {}) {
  const { partials = {}, ...rest } = options;
  const files = Object.entries(partials).map(([name, t]) => [name, source(t, `partials/${name}.hbs`)] as const);
  return compileTemplate(typeof text === 'string' ? source(text) : text, {
    columns,
    partials: new Map(files),
    escape: 'none',
    locale: 'en-GB',
    timeZone: 'Europe/London',
    ...rest,
  });
}

/** The template, which must be right. */
export function compiled(text: string, columns: readonly string[], options: Options = {}): CompiledTemplate {
  const { template, diagnostics } = compile(text, columns, options);
  if (template === null) throw new Error(diagnostics.map((d) => `${d.code}: ${d.message}`).join('\n'));
  return template;
}

/** The text for one row. */
export function render(text: string, row: Row, options: Options = {}): string {
  const columns = Object.keys(row);
  const template = compiled(text, columns, options);
  return template.render(createValues(columns, template.columns)(Object.values(row)));
}

/** What is found, one line each: `code line:column message (hint)`, with the file where it is another one. */
export function findings(text: string | SourceText, columns: readonly string[], options: Options = {}): string[] {
  const main = typeof text === 'string' ? 'template.hbs' : text.file;
  return compile(text, columns, options).diagnostics.map(({ code, message, at, hint }) => {
    const file = at === undefined || at.file === main ? '' : `${at.file}:`;
    return `${code} ${file}${at?.line}:${at?.column} ${message}${hint === undefined ? '' : ` (${hint})`}`;
  });
}

export function fixture(path: string): string {
  return readFileSync(new URL(`../fixtures/templates/${path}`, import.meta.url), 'utf8');
}
