import { createRequire } from 'node:module';
import type { Engine, ParserError, ToHtmlResult } from 'mrml';
import { thrownText } from '../errors.ts';

type Compiled =
  | { readonly html: string }
  | { readonly at: number | null; readonly message: string; readonly hint: string | undefined };

/** By mrml in WebAssembly, without network and files. The caller has refused what is nested too deeply. */
export function mjmlToHtml(mjml: string, isExpression: (at: number) => boolean): Compiled {
  // Loading takes 8 ms and 1 MB.
  const { Engine } = require('mrml') as typeof import('mrml');
  const engine = new Engine();
  try {
    return explain(engine.toHtml(mjml), mjml, isExpression);
  } catch (error) {
    // A trap (no stack left, say) leaves the whole module unusable: the next one to ask gets a new one.
    delete require.cache[require.resolve('mrml')];
    const message = `The MJML cannot be compiled: ${thrownText(error)}.`;
    return { at: null, message, hint: undefined };
  } finally {
    free(engine);
  }
}

const require = createRequire(import.meta.url);

/** An engine of a broken module would throw in the garbage collector, where no code can catch it. */
function free(engine: Engine): void {
  try {
    engine.free();
  } catch {
    // It is gone either way.
  }
}

function explain(result: ToHtmlResult, mjml: string, isExpression: (at: number) => boolean): Compiled {
  if (result.type === 'success') return { html: result.content };
  if (result.origin === 'render') {
    return { at: null, message: `The MJML cannot be compiled: ${result.message}.`, hint: undefined };
  }
  const place = placeOf(result.details, mjml);
  // A text begins with the white space before it.
  const at = place === null ? null : place + (/^\s*/.exec(mjml.slice(place))?.[0].length ?? 0);
  return { at, ...wordsFor(result.details, at !== null && isExpression(at)) };
}

function wordsFor(error: ParserError, atExpression: boolean): { message: string; hint: string | undefined } {
  if (atExpression) {
    const hint =
      'Put it into the value of an attribute in quotes, into a text, or around a whole section, column or text.';
    return { message: 'A Handlebars expression is not allowed here.', hint };
  }
  switch (error.type) {
    case 'unexpected-element':
      return { message: 'This element is not allowed here.', hint: undefined };
    case 'unexpected-token':
      return { message: 'Only elements are allowed here.', hint: 'XML and doctype declarations are left out of MJML.' };
    case 'missing-attribute':
      return { message: `The attribute ${error.name} is missing.`, hint: undefined };
    case 'parser-error':
      return error.source.startsWith('invalid attribute')
        ? {
            message: 'An attribute is not written as name="value".',
            hint: 'Quotes are needed, also around expressions.',
          }
        : { message: 'The markup is not well-formed here.', hint: 'Outside of tags, write &lt; for <.' };
    default:
      return { message: 'The markup is not well-formed.', hint: undefined };
  }
}

/** From a byte of the UTF-8, or a line and a column in the words of the parser below. */
function placeOf(error: ParserError, mjml: string): number | null {
  if ('position' in error) return Buffer.from(mjml).subarray(0, error.position.start).toString().length;
  const place = 'source' in error ? /.* at (\d+):(\d+)/s.exec(error.source) : null;
  return place === null ? null : offsetOf(mjml, Number(place[1]), Number(place[2]));
}

/** Columns count characters. */
function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1;
  const before = [...text.slice(start, start + 2 * column)].slice(0, column - 1);
  return start + before.join('').length;
}
