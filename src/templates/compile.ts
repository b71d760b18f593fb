import { type Diagnostic, thrownText } from '../errors.ts';
import type { SourceText } from '../model.ts';
import { type OutStatement, program } from './ast.ts';
import { checkProgram, withoutFinalLineEnd } from './check.ts';
import { createHelpers } from './helpers/helpers.ts';
import { type LinkPart, linkPartsIn, trustedIn, withPartsEncoded } from './links.ts';
import { Handlebars, parseTemplate } from './parse.ts';
import { TEMPLATE_LIMITS } from './position.ts';
import type { Comparison, Shown, State } from './state.ts';
import type { TemplateValues } from './values.ts';
import { RenderError } from './values.ts';

export { columnTag } from './names.ts';
export type { Comparison, Shown } from './state.ts';
export { createValues, RenderError, type TemplateValues } from './values.ts';

export type Escape = 'none' | 'html' | 'url' | 'mailto';

export interface TemplateOptions {
  /** In order: the only names in a template. */
  readonly columns: readonly string[];
  readonly partials: ReadonlyMap<string, SourceText>;
  /** `html` does not escape `{{{...}}}`; `url` and `mailto` encode the parts of an address. */
  readonly escape: Escape;
  /** BCP 47 tag: the language of `date`, `number`, `currency`, `plural`, `upper`, `lower`, `title`. */
  readonly locale: string;
  /** IANA name: the zone in which `date` shows instants. */
  readonly timeZone: string;
  /** UTF-8 bytes that the template may have, partials put in place; 64 KiB by default. */
  readonly maxSource?: number;
  /** UTF-8 bytes that one rendered text may have; 64 KiB by default. */
  readonly maxOutput?: number;
}

export interface CompiledTemplate {
  readonly columns: readonly string[];
  /** Columns that must not be empty: needed outside `{{#if}}` and `{{#unless}}`, and without a `default`. */
  readonly required: readonly string[];
  readonly shown: ReadonlyMap<string, Shown>;
  readonly comparisons: readonly Comparison[];
  readonly links: readonly LinkPart[];
  /** Throws `RenderError`, and nothing else. */
  render(values: TemplateValues): string;
}

/** Reports all faults at once. With an error there is no template. */
export function compileTemplate(
  source: SourceText,
  options: TemplateOptions,
): { readonly template: CompiledTemplate | null; readonly diagnostics: readonly Diagnostic[] } {
  const parsed = parseTemplate(source, options.maxSource);
  if (!('program' in parsed)) return { template: null, diagnostics: [parsed] };
  const state = newState(options, parsed.bytes);
  const place = {
    state,
    located: parsed.located,
    scope: new Map(),
    mandatory: true,
    guarded: new Set<string>(),
    depth: 0,
    within: [],
  };
  const checked = checkProgram(parsed.program, place);
  const { escape: escaping } = options;
  const isAddress = escaping === 'url' || escaping === 'mailto';
  // `ann@example.com` may come from one column, but not a part of it with its `@`.
  const body = isAddress ? withPartsEncoded(checked, escaping === 'mailto' && checked.length > 1) : checked;
  const diagnostics = [...state.diagnostics.values(), ...(escaping === 'html' ? trustedIn(body) : [])];
  if (diagnostics.some((d) => d.severity === 'error')) return { template: null, diagnostics };
  const inOrder = (names: ReadonlySet<string>) => options.columns.filter((column) => names.has(column));
  const columns = inOrder(state.used);
  const render = createRender(withoutFinalLineEnd(body), columns, options);
  const comparisons = [...state.comparisons.values()];
  return {
    template: {
      columns,
      required: inOrder(state.required),
      shown: state.shown,
      comparisons,
      links: linkPartsIn(body),
      render,
    },
    diagnostics,
  };
}

function newState(options: TemplateOptions, bytes: number): State {
  return {
    columns: new Set(options.columns),
    partials: options.partials,
    settings: options,
    escape: options.escape === 'html' ? 'html' : 'none',
    mostBytes: options.maxSource ?? TEMPLATE_LIMITS.bytes,
    diagnostics: new Map(),
    parsed: new Map(),
    used: new Set(),
    required: new Set(),
    shown: new Map(),
    comparisons: new Map(),
    nodes: 0,
    bytes,
    stopped: false,
  };
}

/** Without helpers and partials that other code registers. */
const handlebars = Handlebars.create();

const NO_PROTOTYPE = Object.freeze({ whitelist: Object.freeze(Object.create(null)), defaultValue: false });

function createRender(
  body: readonly OutStatement[],
  columns: readonly string[],
  options: TemplateOptions,
): (values: TemplateValues) => string {
  const maxBytes = options.maxOutput ?? TEMPLATE_LIMITS.outputBytes;
  // Values that are only compared count too, so that the limit is not that of the text.
  const meter = { units: 0, most: Math.max(16 * maxBytes, 1024 * 1024) };
  const helpers = createHelpers(options.escape !== 'html', meter);
  const template = handlebars.compile<TemplateValues>(program(body), {
    noEscape: options.escape !== 'html',
    strict: true,
    knownHelpers: Object.fromEntries(Object.keys(helpers).map((name) => [name, true])),
    knownHelpersOnly: true,
    // No @root and no frames; white space was dealt with when the text was parsed.
    data: false,
    ignoreStandalone: true,
  });
  // `partial` makes Handlebars take these as they are. Without it, it copies and wraps every helper for every render:
  // 3.4 us, or 0.9 us with nothing but the helpers in use, instead of 0.3 us.
  const runtime = {
    partial: true,
    helpers,
    partials: {},
    decorators: {},
    hooks: {},
    protoAccessControl: { properties: NO_PROTOTYPE, methods: NO_PROTOTYPE },
  };
  return (values) => {
    meter.units = 0;
    try {
      const text = template(values, runtime);
      // A UTF-16 unit is at most three bytes of UTF-8: nearly every text is known to fit without counting.
      if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
      throw new RenderError(`The text is longer than ${maxBytes} bytes.`);
    } catch (error) {
      throw error instanceof RenderError ? error : explain(error, values, columns);
    }
  };
}

/** With a row that lacks a column, strict mode fails with "Cannot convert object to primitive value". */
function explain(error: unknown, values: TemplateValues, columns: readonly string[]): RenderError {
  const missing = columns.find((column) => typeof values?.[column] !== 'string');
  if (missing !== undefined) {
    return new RenderError(`The row has no value for the column ${JSON.stringify(missing)}.`, 'missing-variable');
  }
  if (error instanceof RangeError) return new RenderError('The text is too long.');
  return new RenderError(`The template could not be rendered: ${thrownText(error)}`);
}
