import { element, type Xml, xmlDocument } from './xml.ts';

/**
 * Results in the form that CI systems read as tests. There is no one standard: what is written here is in the schemas of
 * Jenkins and Surefire, but for `file` and `line` of a case, which GitLab and the reporters for GitHub take.
 */
export interface JunitSuite {
  readonly name: string;
  readonly properties: Readonly<Record<string, string | number>>;
  readonly cases: readonly JunitCase[];
  /** ISO 8601 without a zone is what the schema wants; UTC. */
  readonly timestamp?: string;
  readonly seconds?: number;
  /** What is worth knowing and is no case. */
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
