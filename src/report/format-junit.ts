import { OUTCOMES, type Outcome, type OutcomeState, type Report } from '../model.ts';
import { safe } from '../util/escape.ts';
import { mask } from '../util/redact.ts';
import { type NextStep, nextSteps } from './next-steps.ts';
import { reasonWords } from './reason-words.ts';
import type { Outcomes, ReportOptions } from './record.ts';
import { totalsKey } from './tally.ts';
import { countOf, number, OUTCOME_WORDS, STATE_WORDS } from './words.ts';

/** Recipients of one group that are named, masked; the rest is counted. */
const NAMED = 20;

/** The outcomes whose recipients are named: no other rows are needed. */
export const JUNIT_OUTCOMES: readonly OutcomeState[] = ['rejected', 'failed', 'in-doubt'];

/** Recipients that share outcome and reason. */
interface Group {
  readonly outcome: OutcomeState;
  readonly reason: string | null;
  readonly count: number;
  readonly named: string[];
}

/**
 * A run as tests: one for the run itself and one for each outcome and reason, never one for each recipient. Who was
 * rejected or failed is a failure, who is in doubt an error, who was left out or waits is skipped.
 */
export async function* formatJunit(report: Report, outcomes: Outcomes, options: ReportOptions): AsyncGenerator<string> {
  const groups = groupsOf(report);
  await nameRecipients(groups, outcomes);
  const suite: JunitSuite = {
    name: `${report.campaign} · ${report.environment} · ${report.occurrence}`,
    properties: propertiesOf(report, options),
    cases: [runCase(report), ...groups.map((group) => groupCase(report, group))].map((one) => ({
      ...one,
      file: options.campaignFile ?? null,
    })),
    ...timesOf(report),
    output: stepsOf(nextSteps(report, options.campaignFile ?? report.campaign, options.planPath)),
  };
  yield junitText(`handbill ${report.run}`, [suite]);
}

function groupsOf({ totals, reasons }: Report): readonly Group[] {
  return OUTCOMES.flatMap((outcome) => {
    const named = Object.entries(reasons[totalsKey(outcome)] ?? {});
    const rest = totals[totalsKey(outcome)] - named.reduce((sum, [, count]) => sum + count, 0);
    const all: (readonly [string | null, number])[] = [...named, [null, rest]];
    return all.flatMap(([reason, count]) => (count > 0 ? [{ outcome, reason, count, named: [] }] : []));
  });
}

/** Takes the first recipients of each group; reads no further than it must. */
async function nameRecipients(groups: readonly Group[], outcomes: Outcomes): Promise<void> {
  const naming = groups.filter(({ outcome }) => JUNIT_OUTCOMES.includes(outcome));
  const byName = new Map(naming.map((group) => [nameOf(group), group]));
  let wanted = naming.reduce((sum, { count }) => sum + Math.min(count, NAMED), 0);
  if (wanted === 0) return;
  for await (const batch of outcomes) {
    for (const row of batch) {
      const group = byName.get(nameOf(row));
      if (group === undefined || group.named.length >= NAMED) continue;
      group.named.push(recipientOf(row));
      wanted -= 1;
    }
    if (wanted <= 0) return;
  }
}

/** Without the key, which is an address as a rule, and without the API's answer, which may repeat one. */
function recipientOf({ line, to, httpStatus }: Outcome): string {
  const status = httpStatus === null ? '' : `, HTTP ${httpStatus}`;
  return `line ${line}: ${to === null ? 'no address' : mask(to)}${status}`;
}

function nameOf({ outcome, reason }: Pick<Group, 'outcome' | 'reason'>): string {
  return reason === null ? outcome : `${outcome}: ${reason}`;
}

function runCase(report: Report): JunitCase {
  const { state, halt } = report;
  const one = { name: 'run', className: classOf(report) };
  const said = `The run ${STATE_WORDS[state]}.`;
  if (halt !== null) {
    return { ...one, result: 'error', type: halt.rule, message: halt.message, details: `${halt.next}\n` };
  }
  if (state === 'interrupted' || state === 'halted') return { ...one, result: 'error', type: state, message: said };
  if (state === 'running') return { ...one, result: 'skipped', message: said };
  return { ...one, result: 'passed', details: `${said}\n` };
}

function groupCase(report: Report, group: Group): JunitCase {
  const { outcome, reason, count, named } = group;
  const words = reason === null ? '' : reasonWords(reason);
  const message = `${countOf(count, 'recipient')}: ${OUTCOME_WORDS[outcome]}${words === '' ? '' : ` (${words})`}`;
  const one = { name: nameOf(group), className: classOf(report) };
  const result = RESULTS[outcome];
  if (result === 'passed') return { ...one, result, details: `${message}\n` };
  if (result === 'skipped') return { ...one, result, message };
  const rest = count > named.length ? [`${number(count - named.length)} more.`] : [];
  const details = named.length === 0 ? '' : `\n${[...named, ...rest].join('\n')}\n`;
  return { ...one, result, message, type: reason ?? outcome, details };
}

const RESULTS: Readonly<Record<OutcomeState, JunitCase['result']>> = {
  accepted: 'passed',
  rejected: 'failure',
  failed: 'failure',
  skipped: 'skipped',
  deferred: 'skipped',
  'in-doubt': 'error',
  pending: 'skipped',
};

/** Package and class, as Jenkins parts them: names of campaigns and environments have no dots. */
function classOf({ campaign, environment }: Report): string {
  return `${campaign}.${environment}`;
}

function propertiesOf(report: Report, { currency = null }: ReportOptions): JunitSuite['properties'] {
  const {
    run,
    campaign,
    environment,
    occurrence,
    state,
    totals,
    requests,
    sms,
    deliveries,
    unmatchedReports = {},
  } = report;
  return {
    ...{ run, campaign, environment, occurrence, state },
    ...prefixed('totals', { ...totals }),
    'requests.posted': requests.posted,
    'requests.retried': requests.retried,
    ...(sms.parts > 0 ? { 'sms.parts': sms.parts } : {}),
    ...(sms.cost === null ? {} : { cost: sms.cost, ...(currency === null ? {} : { currency }) }),
    ...prefixed('deliveries', deliveries),
    ...prefixed('unmatchedReports', unmatchedReports),
  };
}

function prefixed(prefix: string, counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [`${prefix}.${key}`, count]));
}

/** The schemas want an instant without its zone; it is UTC. */
function timesOf({ startedAt, finishedAt }: Report): { readonly timestamp?: string; readonly seconds?: number } {
  const from = Date.parse(startedAt);
  if (Number.isNaN(from)) return {};
  const ms = finishedAt === null ? Number.NaN : Date.parse(finishedAt) - from;
  const timestamp = new Date(from).toISOString().slice(0, 19);
  return { timestamp, seconds: ms >= 0 ? ms / 1000 : 0 };
}

function stepsOf(steps: readonly NextStep[]): string {
  return steps.map(({ text, command }) => `${text}\n${command === null ? '' : `    ${command}\n`}`).join('');
}

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
