import type { Decision, JsonObject, SendDecision } from '../model.ts';
import { warningsOf } from '../plan/decide.ts';
import { number } from '../report/words.ts';
import { safe, safeLine } from '../util/safe.ts';
import type { Preview, Previewed } from './previewed.ts';

export const PREVIEW_FORMATS = ['text', 'json', 'jsonl'] as const;
export type PreviewFormat = (typeof PREVIEW_FORMATS)[number];

/** Which rows are shown. All rows are decided about, so that counts and problems are those of the whole list. */
export interface PreviewChoice {
  readonly limit: number | null;
  readonly key: string | null;
  readonly line: number | null;
  readonly width: number;
}

type Writer = (preview: Preview, choice: PreviewChoice) => AsyncGenerator<string>;

const WRITERS: Readonly<Record<PreviewFormat, Writer>> = { text: writeText, json: writeJson, jsonl: writeJsonl };

export function previewWriter(format: PreviewFormat): Writer {
  return WRITERS[format];
}

/** The rows that are shown, a batch at a time; reads the list to its end. */
async function* chosen(preview: Preview, choice: PreviewChoice): AsyncGenerator<readonly Previewed[]> {
  let left = choice.limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of preview.batches) {
    if (left <= 0) continue;
    const rows = batch.filter(
      ({ decision }) =>
        (choice.key === null || decision.key === choice.key || decision.to === choice.key) &&
        (choice.line === null || decision.line === choice.line),
    );
    const shown = rows.length > left ? rows.slice(0, left) : rows;
    left -= shown.length;
    if (shown.length > 0) yield shown;
  }
}

async function* writeJsonl(preview: Preview, choice: PreviewChoice): AsyncGenerator<string> {
  for await (const rows of chosen(preview, choice)) {
    let text = '';
    for (const row of rows) text += `${record(preview, row)}\n`;
    yield text;
  }
}

async function* writeJson(preview: Preview, choice: PreviewChoice): AsyncGenerator<string> {
  const { campaign, environment, occurrence } = preview.plan;
  const head = { version: 1, campaign: campaign.name, environment: environment.name, occurrence, url: environment.url };
  yield `${JSON.stringify(head).slice(0, -1)},"decisions":[`;
  let first = true;
  for await (const rows of chosen(preview, choice)) {
    let text = '';
    for (const row of rows) {
      text += `${first ? '\n' : ',\n'}${record(preview, row)}`;
      first = false;
    }
    yield text;
  }
  yield `\n],"estimate":${JSON.stringify(preview.result().estimate)}}\n`;
}

/** One decision as one line of JSON; the body stands in it with exactly the bytes that would be posted. */
function record(preview: Preview, row: Previewed): string {
  const { decision } = row;
  const { line, key, to } = decision;
  const send = decision.decision === 'send' ? decision : null;
  const warnings =
    send === null ? [] : warningsOf(preview.plan.campaign, send).map(({ code, message }) => ({ code, message }));
  const facts: JsonObject = {
    line,
    key,
    to,
    decision: decision.decision,
    reason: reasonOf(decision),
    variant: null,
    parts: send?.sms?.parts ?? null,
    encoding: send?.sms?.encoding ?? null,
    warnings,
  };
  const { url } = preview.plan.environment;
  const request =
    row.body === null
      ? 'null'
      : `{"method":"POST","url":${JSON.stringify(url)},"headers":{"content-type":"application/json"},"body":${row.body}}`;
  return `${JSON.stringify(facts).slice(0, -1)},"request":${request}}`;
}

function reasonOf(decision: Decision): string | null {
  if (decision.decision === 'send') return null;
  return decision.decision === 'done' ? (decision.reason ?? decision.outcome) : decision.reason;
}

async function* writeText(preview: Preview, choice: PreviewChoice): AsyncGenerator<string> {
  const { campaign, environment, occurrence } = preview.plan;
  yield `${safeLine(`Preview of ${campaign.name} (${occurrence}) on ${campaign.channel}, environment ${environment.name}`)}\n`;
  yield `POST ${safeLine(environment.url)}\n\n`;
  let shown = 0;
  for await (const rows of chosen(preview, choice)) {
    shown += rows.length;
    let text = '';
    for (const { decision } of rows) text += block(preview, decision);
    yield text;
  }
  const { estimate } = preview.result();
  if (shown < estimate.rows && choice.key === null && choice.line === null) {
    yield `… and ${number(estimate.rows - shown)} more rows (--limit N, or --format jsonl for all)\n\n`;
  }
  yield summary(preview);
}

/** One row: a line of facts, then the message as the recipient reads it. */
function block(preview: Preview, decision: Decision): string {
  const place = `line ${decision.line}`.padEnd(11);
  const to = (decision.to ?? '-').padEnd(16);
  if (decision.decision !== 'send') {
    const reason = reasonOf(decision);
    const detail = decision.decision === 'invalid' ? `: ${safeLine(decision.problem.message)}` : '';
    return `${place}${to} ${decision.decision} (${reason ?? ''})${detail}\n\n`;
  }
  const facts = decision.sms === null ? '' : `  ${decision.sms.encoding}, ${parts(decision.sms.parts)}`;
  const key = decision.key === decision.to ? '' : `  key ${safeLine(decision.key)}`;
  const warnings = warningsOf(preview.plan.campaign, decision).map((w) => `           ! ${safeLine(w.message)}\n`);
  return `${place}${to} send${facts}${key}\n${indented(messageOf(decision))}\n${warnings.join('')}\n`;
}

function messageOf(decision: SendDecision): string {
  if (decision.text !== null) return decision.text;
  return Object.entries(decision.variables ?? {})
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');
}

function indented(text: string): string {
  return safe(text)
    .split('\n')
    .map((line) => `           | ${line}`)
    .join('\n');
}

function summary(preview: Preview): string {
  const { estimate } = preview.result();
  const skipped = Object.entries(estimate.skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const done = Object.entries(estimate.done).map(([outcome, count]) => `${number(count)} ${outcome}`);
  const cost =
    estimate.costMicros === null ? null : `${(estimate.costMicros / 1e6).toFixed(2)} ${estimate.currency ?? ''}`;
  const rows: readonly (readonly [string, string | null])[] = [
    ['rows', number(estimate.rows)],
    ['to send', `${number(estimate.send)}, ${parts(estimate.parts)}`],
    [
      'cost',
      cost === null
        ? null
        : `${cost.trim()}${estimate.unpriced > 0 ? ` and ${number(estimate.unpriced)} without a price` : ''}`,
    ],
    ['skipped', skipped.length === 0 ? null : skipped.join(', ')],
    ['done', done.length === 0 ? null : done.join(', ')],
    ['invalid', estimate.invalid === 0 ? null : number(estimate.invalid)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)}${value}\n`])).join('');
}

function parts(count: number): string {
  return count === 1 ? '1 part' : `${number(count)} parts`;
}
