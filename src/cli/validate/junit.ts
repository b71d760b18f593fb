import { dirname } from 'node:path/posix';
import { escapeUTF8 } from 'entities';
import { figuresOf, type ValidatedFile } from '../../operations/validate.ts';
import { countOf, number } from '../../report/words.ts';
import { safe, safeLine } from '../../util/escape.ts';
import { findingsOf, type Kind, placeOf, type ValidationDocument } from './findings.ts';

/** Named places of one kind; the rest is counted. */
const NAMED = 20;

/**
 * A suite for each campaign, with a failure for each kind of error in each file, or one passed test. The name is code
 * and file, never a line, so that CI knows a test again. Warnings are the output of the suite.
 */
export function formatJunit(document: ValidationDocument): string {
  const { kinds, validation } = document;
  const before = kinds.filter(({ campaign }) => campaign === null);
  const suites = validation.files.map((file) =>
    campaignSuite(
      file,
      kinds.filter(({ campaign }) => campaign === file.file),
      document,
    ),
  );
  const general = before.length === 0 ? [] : [suiteOf('handbill', before, {}, [], document)];
  return junitText('handbill validate', [...general, ...suites]);
}

function campaignSuite(file: ValidatedFile, kinds: readonly Kind[], document: ValidationDocument): JunitSuite {
  const path = document.pathOf(file.file) ?? file.file;
  const figures = file.estimate === null ? '' : figuresOf(file.estimate);
  const passed = { name: 'no errors', details: figures, file: path };
  const properties = { errors: file.errors, warnings: file.warnings };
  const isListed = kinds.some(({ severity }) => severity === 'error');
  const own = file.errors === 0 ? [passed] : isListed ? [] : [elsewhere(file, path)];
  return suiteOf(path, kinds, properties, own, document);
}

/** A campaign whose only errors are those of its project must not look as if it had passed. */
function elsewhere({ errors }: ValidatedFile, path: string): JunitCase {
  const message = `${countOf(errors, 'error')} of the project, listed with the first campaign that has ${errors === 1 ? 'it' : 'them'}.`;
  return { name: 'errors of the project', failure: { message, type: 'project' }, details: '', file: path };
}

function suiteOf(
  name: string,
  kinds: readonly Kind[],
  properties: JunitSuite['properties'],
  own: readonly JunitCase[],
  document: ValidationDocument,
): JunitSuite {
  const failed = kinds.filter(({ severity }) => severity === 'error').map((kind) => failure(kind, document));
  const warnings = kinds.filter(({ severity }) => severity === 'warning');
  const output = findingsOf(warnings)
    .filter(({ rank }) => rank < NAMED)
    .map(
      ({ diagnostic, message }) =>
        `warning[${diagnostic.code}]: ${placed(placeOf(diagnostic, document.pathOf).shown, message)}\n`,
    );
  return { name, properties, cases: [...own, ...failed], output: output.join('') };
}

function failure({ code, kept, count }: Kind, document: ValidationDocument): JunitCase {
  const places = kept.map((diagnostic) => ({ ...diagnostic, ...placeOf(diagnostic, document.pathOf) }));
  const first = places[0];
  const file = first?.path ?? null;
  const more = count === 1 ? '' : ` (and ${number(count - 1)} more)`;
  const lines = places
    .slice(0, NAMED)
    .flatMap(({ shown, message, hint }) => [
      placed(shown, message),
      ...(hint === undefined ? [] : [`  help: ${hint}`]),
    ]);
  const rest = count > NAMED ? [`${number(count - NAMED)} more not listed.`] : [];
  return {
    name: file === null ? code : `${code} in ${file}`,
    failure: { message: `${first?.message ?? ''}${more}`, type: code },
    details: `\n${[...lines, ...rest].join('\n')}\n`,
    file,
    line: first?.line ?? null,
  };
}

function placed(shown: string, message: string): string {
  return shown === '' ? message : `${shown}: ${message}`;
}

/**
 * Package and class of the cases, parted by the last dot: the folder of the campaign, whose dots would be read as the
 * ends of packages.
 */
function classOf(path: string): string {
  const folder = dirname(path);
  return safeLine(folder === '.' ? path : folder).replaceAll('.', '_');
}

/**
 * CI systems read this as tests. It follows the schemas of Jenkins and Surefire, except for `file` and `line` of a
 * case, which GitLab and the reporters for GitHub read.
 */
interface JunitSuite {
  readonly name: string;
  readonly properties: Readonly<Record<string, number>>;
  readonly cases: readonly JunitCase[];
  readonly output?: string;
}

interface JunitCase {
  readonly name: string;
  /** Absent: passed. `type`: a word by which such results can be grouped. */
  readonly failure?: Readonly<Record<'message' | 'type', string>>;
  readonly details: string;
  readonly file?: string | null;
  readonly line?: number | null;
}

/** One document. The counts are made from the cases, so that they add up. */
export function junitText(name: string, suites: readonly JunitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  const root = element('testsuites', { name, ...countsOf(all), time: '0.000' }, suites.map(suiteElement));
  return xmlDocument(root);
}

function suiteElement({ name, properties, cases, output = '' }: JunitSuite): Xml {
  const named = Object.entries(properties).map(([key, value]) => element('property', { name: key, value }));
  return element('testsuite', { name, ...countsOf(cases), time: '0.000' }, [
    ...(named.length === 0 ? [] : [element('properties', {}, named)]),
    ...cases.map((one) => caseElement(one, classOf(name))),
    ...(output === '' ? [] : [element('system-out', {}, output)]),
  ]);
}

function caseElement({ name, failure, details, file = null, line = null }: JunitCase, classname: string): Xml {
  const facts = { name, classname, file, line, time: '0.000' };
  if (failure !== undefined) return element('testcase', facts, [element('failure', failure, details)]);
  return element('testcase', facts, details === '' ? [] : [element('system-out', {}, details)]);
}

function countsOf(cases: readonly JunitCase[]): Readonly<Record<string, number>> {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  return { tests: cases.length, failures, errors: 0, skipped: 0 };
}

/** Markup that is known to be well-formed: only `element` makes it. */
interface Xml {
  readonly markup: string;
}

/** Leaves out null attributes. Text is not indented, because its spaces count. Names never come from input. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | null>>,
  children: readonly Xml[] | string = [],
): Xml {
  // A line break in an attribute would be read as a space (section 3.3.3).
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${xmlText(String(value)).replaceAll('\n', '&#10;')}"`],
  );
  const head = `<${name}${written.join('')}`;
  if (children.length === 0) return { markup: `${head}/>\n` };
  if (typeof children === 'string') return { markup: `${head}>${xmlText(children)}</${name}>\n` };
  return { markup: `${head}>\n${children.map(({ markup }) => markup).join('')}</${name}>\n` };
}

export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}`;
}

/**
 * Shows the number of characters that XML 1.0 cannot have: control characters, halves of surrogate pairs (section 2.2).
 */
function xmlText(text: string): string {
  return escapeUTF8(safe(text).replace(/[\ufffe\uffff]/g, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`));
}
