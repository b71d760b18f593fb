import type { ContentProblem } from '../content/check-values.ts';
import { isGsm, MAX_SMS_PARTS, smsFacts } from '../content/sms.ts';
import { normaliseText, transliterate } from '../content/unicode.ts';
import { type Diagnostic, type Position, problem } from '../errors.ts';
import type { JsonObject, Leg, LegMessage, Replacement, SmsFacts, Variables } from '../model.ts';
import type { TemplateValues } from '../templates/compile.ts';
import { withProviders } from './check-content.ts';
import type { CompiledLeg } from './compile-leg.ts';
import type { Personalised } from './workshop.ts';

/** The message of a leg for one row, or what is wrong with it there. Throws `RenderError` where a text cannot be made. */
export type Writer = (
  address: { readonly to: string; readonly country: string | null },
  values: TemplateValues,
  at: Position,
) => LegMessage | Diagnostic;

const NOTHING_REPLACED: readonly Replacement[] = [];
const EMPTY: JsonObject = Object.freeze({});

/**
 * Makes the writer of a leg's messages.
 *
 * @param index - 0 for the campaign's own message and its variants; then the fallbacks
 * @param metaData - the metadata of each recipient, the same for all legs
 */
export function createWriter(compiled: CompiledLeg, index: number, metaData: Personalised | null): Writer {
  const { leg } = compiled;
  const shape = leg.channel === 'sms' ? createSmsShaper(leg) : createPlainShaper(compiled);
  return (address, values, at) => {
    const rendered = compiled.text === null ? null : compiled.text.render(values);
    const variables = compiled.variables === null ? null : personalise(compiled.variables, values);
    const content = compiled.content === null ? null : compiled.content.render(values);
    const own = metaData === null ? null : (personalise(metaData, values) as Record<string, string>);
    const shaped = shape(rendered, content, at);
    if ('code' in shaped) return shaped;
    return {
      leg: index,
      channel: leg.channel,
      to: address.to,
      country: address.country,
      text: shaped.text,
      variables,
      content: shaped.content,
      rendered: content,
      metaData: shaped.headers === null ? own : { ...own, ...shaped.headers },
      replaced: shaped.replaced,
      sms: shaped.sms,
    };
  };
}

interface Shaped {
  readonly text: string | null;
  readonly content: JsonObject | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly replaced: readonly Replacement[];
  readonly sms: SmsFacts | null;
}

type Shaper = (rendered: string | null, content: JsonObject | null, at: Position) => Shaped | Diagnostic;

const NOTHING_RENDERED: Shaped = { text: null, content: null, headers: null, replaced: NOTHING_REPLACED, sms: null };

/** Encoding and parts of an SMS. */
function createSmsShaper({ characterSet, transliterate: wanted }: Leg): Shaper {
  return (rendered, _content, at) => {
    if (rendered === null) return NOTHING_RENDERED;
    let text = normaliseText(rendered);
    if (!/\S/.test(text)) return emptyMessage(at);
    let replaced = NOTHING_REPLACED;
    let sms = smsFacts(text, characterSet);
    if (wanted && characterSet !== 'unicode' && !isGsm(text)) {
      const other = transliterate(text);
      if (other.replaced.length > 0) {
        text = other.text;
        replaced = other.replaced;
        sms = smsFacts(text, characterSet);
      }
    }
    if (characterSet === 'gsm' && !isGsm(text)) {
      return problem('not-gsm', 'The message has characters outside GSM-7, and `characterSet: gsm` is asked for.', {
        at,
        hint: 'Set `characterSet: auto`, or `transliterate: true` where near letters will do.',
      });
    }
    if (sms.parts > MAX_SMS_PARTS) {
      return problem('too-many-parts', `The message has ${sms.parts} parts; an SMS has at most ${MAX_SMS_PARTS}.`, {
        at,
      });
    }
    return { text, content: null, headers: null, replaced, sms };
  };
}

/** Every other channel: the limits of its content, with everything filled in. */
function createPlainShaper({ leg, isPersonal, content: compiled, finishEmail, check }: CompiledLeg): Shaper {
  const isProvider = leg.template?.kind === 'provider';
  return (rendered, content, at) => {
    const text = rendered === null ? null : normaliseText(rendered);
    if (text !== null && compiled === null && !/\S/.test(text)) return emptyMessage(at);
    if (check !== null && isPersonal) {
      const known = isProvider ? null : (text ?? undefined);
      const wrong = check(leg.channel, withProviders(leg, content ?? EMPTY), known).find(
        (found) => found.severity === 'error',
      );
      if (wrong !== undefined) return inRow(wrong, at);
    }
    if (finishEmail === null) return { text, content, headers: null, replaced: NOTHING_REPLACED, sms: null };
    const email = finishEmail(content ?? EMPTY, text);
    const headers = Object.keys(email.headers).length === 0 ? null : email.headers;
    // The provider has the text, too.
    const said = isProvider ? null : email.text;
    return { text: said, content: email.content, headers, replaced: NOTHING_REPLACED, sms: null };
  };
}

function emptyMessage(at: Position): Diagnostic {
  return problem('empty-message', 'The message is empty for this row.', { at });
}

/** What is wrong with the content of one row: the message names the part, the place is the row's. */
function inRow({ code, message, hint }: ContentProblem, at: Position): Diagnostic {
  return problem(code, message, { at, ...(hint === undefined ? {} : { hint }) });
}

export function personalise(templates: Personalised, values: TemplateValues): Variables<string> {
  const own: Record<string, string | Readonly<Record<string, string>>> = Object.create(null);
  for (const one of templates) {
    own[one.name] =
      'group' in one ? (personalise(one.group, values) as Record<string, string>) : one.template.render(values);
  }
  return own;
}
