import { normaliseText } from '../content/unicode.ts';
import type { Content, JsonObject, Leg } from '../model.ts';
import { type CompiledTemplate, RenderError } from '../templates/compile.ts';
import { createValues } from '../templates/values.ts';
import { checkAtLoad, type FilledIn } from './check-content.ts';
import { type CompiledContent, compileContent } from './compile-content.ts';
import { compileVariables } from './compile-variables.ts';
import { type CheckContent, compileText, type Personalised, type Workshop } from './workshop.ts';

/** A leg with everything compiled that is filled in for each recipient. */
export interface CompiledLeg {
  readonly leg: Leg;
  readonly text: CompiledTemplate | null;
  readonly variables: Personalised | null;
  readonly content: CompiledContent | null;
  /** Columns that must not be empty. */
  readonly required: readonly string[];
  /** Text or content differ from recipient to recipient, so that recipients cannot share a request. */
  readonly isPersonal: boolean;
  /** Makes the last changes to an email; null for every other channel. */
  readonly finishEmail: EmailFinisher | null;
  /** Judges the content of each recipient; null for SMS. */
  readonly check: CheckContent | null;
}

/** The email as it goes on the wire, and the headers of its metadata. */
export type EmailFinisher = (
  content: JsonObject,
  text: string | null,
) => { readonly content: JsonObject; readonly text: string | null; readonly headers: Readonly<Record<string, string>> };

/** Compiles a leg; null where something is wrong with it, which is reported. */
export async function compileLeg(leg: Leg, shop: Workshop): Promise<CompiledLeg | null> {
  const before = shop.diagnostics.length;
  const { template } = leg;
  const required = new Set<string>();
  const text = template?.kind === 'text' ? compileText(template.source, shop) : null;
  for (const column of text?.required ?? []) required.add(column);
  const variables = template?.kind === 'provider' ? compileVariables(leg, template, shop, required) : null;
  const content = leg.content === null ? null : await compileContent(leg.content, shop, required);
  const isPersonal = (text?.columns.length ?? 0) > 0 || content?.isPersonal === true;
  const isBroken = (): boolean => shop.diagnostics.slice(before).some((d) => d.severity === 'error');
  // Content that could not be read is not judged: what it lacks, it may have.
  const isRead = leg.content === null || content !== null;
  if (isRead && (leg.channel !== 'sms' || leg.content !== null)) {
    const filledIn = isPersonal || isBroken() ? null : fillIn(text, content?.compiled ?? null);
    checkAtLoad(leg, content?.source ?? null, filledIn, shop);
  }
  if (isBroken()) return null;
  return {
    leg,
    text,
    variables,
    content: content?.compiled ?? null,
    required: [...required],
    isPersonal,
    check: shop.check,
    finishEmail: leg.channel === 'email' ? await emailFinisher(content?.source ?? null) : null,
  };
}

/** A message without columns; null where it cannot be made, which every row will say. */
function fillIn(text: CompiledTemplate | null, content: CompiledContent | null): FilledIn | null {
  const values = createValues([], [])([]);
  try {
    const said = text === null ? null : normaliseText(text.render(values));
    return { content: content?.render(values) ?? null, text: said };
  } catch (error) {
    if (error instanceof RenderError) return null;
    throw error;
  }
}

/** What makes a text of HTML is loaded only where there is HTML. */
async function emailFinisher(content: Content | null): Promise<EmailFinisher> {
  const { emailContent } = await import('../content/email-content.ts');
  const { unsubscribeHeaders } = await import('../content/email-content.ts');
  const { loadHtmlText } = await import('../content/html-text.ts');
  const textOfHtml = content?.texts.has('/html') === true ? await loadHtmlText() : () => '';
  return (tree, text) => {
    const finished = emailContent(tree, text ?? undefined, textOfHtml);
    return { content: finished.content, text: finished.text ?? null, headers: unsubscribeHeaders(tree) };
  };
}
