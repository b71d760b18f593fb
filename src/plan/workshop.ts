import type { ContentProblem } from '../content/check-values.ts';
import type { Diagnostic } from '../errors.ts';
import type { Campaign, Channel, JsonObject, Leg, SourceText, Variables } from '../model.ts';
import { type CompiledTemplate, columnTag, compileTemplate } from '../templates/compile.ts';

/** What all legs of a campaign are compiled with, and where what is found goes. */
export interface Workshop {
  readonly campaign: Campaign;
  readonly columns: readonly string[];
  readonly diagnostics: Diagnostic[];
  /** Columns that anything uses. */
  readonly used: Set<string>;
  /** Null where there is nothing but SMS. */
  readonly check: CheckContent | null;
}

export type CheckContent = (
  channel: Channel,
  content: JsonObject,
  text: string | null | undefined,
) => readonly ContentProblem[];

/** What knows the limits of every channel is loaded by campaigns that have anything but SMS. */
export async function loadCheck(legs: readonly Leg[]): Promise<CheckContent | null> {
  if (legs.every(({ channel, content }) => channel === 'sms' && content === null)) return null;
  return (await import('../content/check.ts')).checkContent;
}

/** How long the HTML of an email may be before and after it is rendered, in bytes: MJML grows about fivefold. */
export const MOST_HTML_BYTES = 1 << 20;

export type Personalised = readonly (
  | { readonly name: string; readonly template: CompiledTemplate }
  | { readonly name: string; readonly group: Personalised }
)[];

/** Compiles a text that is rendered for each recipient; its columns count as used. */
export function compileText(
  source: SourceText,
  { campaign, columns, diagnostics, used }: Workshop,
  html = false,
): CompiledTemplate | null {
  const { template, diagnostics: found } = compileTemplate(source, {
    columns,
    partials: campaign.partials,
    escape: html ? 'html' : 'none',
    locale: campaign.locale,
    timeZone: campaign.timeZone,
    ...(html ? { maxSource: MOST_HTML_BYTES, maxOutput: MOST_HTML_BYTES } : {}),
  });
  diagnostics.push(...found);
  for (const column of template?.columns ?? []) used.add(column);
  return template;
}

/** Compiles named expressions: a bare column name is that column, anything with braces is an expression. */
export function compileNamed(sources: Variables<SourceText>, shop: Workshop): Personalised {
  return Object.entries(sources).flatMap(([name, source]): Personalised => {
    if (!isText(source)) return [{ name, group: compileNamed(source, shop) }];
    const template = compileText(expression(source), shop);
    return template === null ? [] : [{ name, template }];
  });
}

export function isText(source: SourceText | Readonly<Record<string, SourceText>>): source is SourceText {
  return typeof source.text === 'string';
}

/** The braces that were not written are before the place of the name. */
function expression(source: SourceText): SourceText {
  if (source.text.includes('{{')) return source;
  return { ...source, text: columnTag(source.text), column: source.column - 2 };
}
