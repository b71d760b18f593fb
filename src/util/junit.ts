import { safe } from './safe.ts';

/**
 * Results in the format that CI systems read as tests. There is no single standard: this follows the schemas of Jenkins
 * and Surefire, except for `file` and `line` of a case, which GitLab and the reporters for GitHub read.
 */
export interface JunitSuite {
  readonly name: string;
  readonly properties: Readonly<Record<string, string | number>>;
  readonly cases: readonly JunitCase[];
  /** The schema asks for ISO 8601 without a zone; UTC. */
  readonly timestamp?: string;
  readonly seconds?: number;
  /** Information that is not a case. */
  readonly output?: string;
}

export interface JunitCase {
  readonly name: string;
  /** Package and class, parted by the last dot. */
  readonly className: string;
  readonly result: 'passed' | 'failure' | 'error' | 'skipped';
  /** Why it did not pass, in one sentence. */
  readonly message?: string;
  /** A word by which such results can be grouped. */
  readonly type?: string;
  /** More about it, in lines. */
  readonly details?: string;
  readonly file?: string | null;
  readonly line?: number | null;
}

/** One document. The counts are made from the cases, so that they add up. */
export function junitText(name: string, suites: readonly JunitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  const seconds = suites.reduce((sum, suite) => sum + (suite.seconds ?? 0), 0);
  const root = element('testsuites', { name, ...countsOf(all), time: timeOf(seconds) }, suites.map(suiteElement));
  return xmlDocument(root);
}

function suiteElement({ name, properties, cases, timestamp, seconds = 0, output = '' }: JunitSuite): Xml {
  const named = Object.entries(properties).map(([key, value]) => element('property', { name: key, value }));
  const facts = { name, ...countsOf(cases), time: timeOf(seconds), timestamp: timestamp ?? null };
  return element('testsuite', facts, [
    ...(named.length === 0 ? [] : [element('properties', {}, named)]),
    ...cases.map(caseElement),
    ...(output === '' ? [] : [element('system-out', {}, output)]),
  ]);
}

function caseElement(one: JunitCase): Xml {
  const { name, className, result, message = '', type = null, details = '', file = null, line = null } = one;
  const facts = { name, classname: className, file, line, time: timeOf(0) };
  if (result === 'passed')
    return element('testcase', facts, details === '' ? [] : [element('system-out', {}, details)]);
  return element('testcase', facts, [element(result, { message, type }, details)]);
}

function countsOf(cases: readonly JunitCase[]): Readonly<Record<string, number>> {
  const count = (wanted: JunitCase['result']) => cases.filter(({ result }) => result === wanted).length;
  return { tests: cases.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

function timeOf(seconds: number): string {
  return seconds.toFixed(3);
}

/** What an attribute may be; null leaves it out. */
type XmlAttributes = Readonly<Record<string, string | number | null>>;

/** Markup that is known to be well-formed: only `element` makes it. */
interface Xml {
  readonly markup: string;
}

/**
 * An element of XML 1.0 on lines of its own, its children indented by one step. Text is not indented, because its
 * spaces count. Names come from the program, never from input.
 */
export function element(name: string, attributes: XmlAttributes, children: readonly Xml[] | string = []): Xml {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${attribute(String(value))}"`],
  );
  const head = `<${name}${written.join('')}`;
  if (children.length === 0) return { markup: `${head}/>\n` };
  if (typeof children === 'string') return { markup: `${head}>${xmlText(children)}</${name}>\n` };
  return { markup: `${head}>\n${children.map(({ markup }) => markup).join('')}</${name}>\n` };
}

/** A whole document, with its declaration. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}`;
}

/**
 * Text as the content of an element. XML 1.0 has no way at all to write most control characters, halves of surrogate
 * pairs, U+FFFE and U+FFFF (section 2.2), so they are shown by their numbers, as everywhere where people read.
 */
function xmlText(text: string): string {
  return safe(text)
    .replace(NO_CHARACTERS, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`)
    .replace(SPECIAL, (c) => ENTITIES[c] ?? '');
}

/** A line break in an attribute would be read as a space (section 3.3.3). */
function attribute(text: string): string {
  return xmlText(text).replaceAll('\n', '&#10;');
}

const NO_CHARACTERS = /[\ufffe\uffff]/g;
// `>` too: `]]>` is not allowed in text (section 2.4).
const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
