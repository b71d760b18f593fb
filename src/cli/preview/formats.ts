import { describeContent } from '../../content/describe.ts';
import type { Diagnostic } from '../../errors.ts';
import type { Decision, JsonObject, SendDecision, Step, StepMessage } from '../../model.ts';
import { partsText } from '../../plan/estimate.ts';
import type { Previewed, PreviewRows } from '../../plan/previewed.ts';
import { changedText, countOf } from '../../report/words.ts';
import { isNamed } from '../../util/address-form.ts';
import { jsonText, safe, safeLine } from '../../util/escape.ts';
import { iso } from '../../util/time.ts';
import { factLines, namedValues, previewFacts, reasonOf } from '../../web/preview/facts.ts';

export const PREVIEW_FORMATS = ['text', 'json', 'jsonl', 'html'] as const;

/** Which rows are shown. All rows are decided about, so that counts and problems are those of the whole list. */
interface PreviewChoice {
  readonly limit: number | null;
  readonly key: string | null;
  readonly line: number | null;
  readonly width: number;
}

type Writer = (preview: PreviewRows, choice: PreviewChoice) => AsyncGenerator<string>;

export const WRITERS: Readonly<Record<(typeof PREVIEW_FORMATS)[number], Writer>> = {
  text: writeText,
  json: writeJson,
  jsonl: (preview, choice) => records(preview, choice, (one) => `${one}\n`),
  html: writeHtml,
};

/** Whether it is the row that `--key` or `--line` names; without them, every one is. */
export function isWanted({ decision }: Previewed, { key, line }: Pick<PreviewChoice, 'key' | 'line'>): boolean {
  return (key === null || isNamed(key, decision)) && (line === null || decision.line === line);
}

/** The rows that are shown, a batch at a time; reads the list to its end. */
async function* chosen(preview: PreviewRows, choice: PreviewChoice): AsyncGenerator<readonly Previewed[]> {
  let left = choice.limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of preview.batches) {
    if (left <= 0) continue;
    const rows = batch.filter((row) => isWanted(row, choice));
    const shown = rows.length > left ? rows.slice(0, left) : rows;
    left -= shown.length;
    if (shown.length > 0) yield shown;
  }
}

/** The page is only loaded by those who ask for it: charts and styles come with it. */
async function* writeHtml(preview: PreviewRows, choice: PreviewChoice): AsyncGenerator<string> {
  const { previewHtml } = await import('../../web/preview/preview.ts');
  yield* previewHtml({ ...preview, batches: chosen(preview, choice) });
}

/**
 * Characters that are printed at once. What is being printed is in use when V8 collects the young generation, and that
 * makes V8 double it: with 64 KiB, a preview of 1,000,000 rows took 35 MB more.
 */
const PIECE_CHARACTERS = 16 * 1024;

async function* records(preview: PreviewRows, choice: PreviewChoice, written: (record: string) => string) {
  for await (const rows of chosen(preview, choice)) {
    let text = '';
    for (const row of rows) {
      if (text.length > PIECE_CHARACTERS) {
        yield text;
        text = '';
      }
      text += written(record(preview, row));
    }
    yield text;
  }
}

async function* writeJson(preview: PreviewRows, choice: PreviewChoice): AsyncGenerator<string> {
  const { campaign, environment, occurrence, day } = preview.plan;
  const head = {
    version: 1,
    campaign: campaign.name,
    environment: environment.name,
    occurrence,
    ...(day === null ? {} : { day: day.text }),
    url: environment.url,
    ...(campaign.recipients.sampled === undefined ? {} : { sample: campaign.recipients.file }),
  };
  yield `${jsonText(head).slice(0, -1)},"decisions":[`;
  let between = '\n';
  yield* records(preview, choice, (one) => {
    const text = `${between}${one}`;
    between = ',\n';
    return text;
  });
  yield `\n],"estimate":${jsonText(preview.result().estimate)}}\n`;
}

/** One decision as one line of JSON. The body in it has exactly the bytes that would be posted. */
function record(preview: PreviewRows, row: Previewed): string {
  const { decision } = row;
  const { line, key, to } = decision;
  const send = decision.decision === 'send' ? decision : null;
  const warnings = warningsOf(preview, decision).map(({ code, message }) => ({ code, message }));
  const facts: JsonObject = {
    line,
    key,
    to,
    decision: decision.decision,
    reason: reasonOf(decision),
    variant: send?.variant ?? null,
    parts: send?.sms?.parts ?? null,
    encoding: send?.sms?.encoding ?? null,
    warnings,
  };
  const rule = ruleFacts(decision);
  const head = jsonText(rule === null ? facts : { ...facts, ...rule }).slice(0, -1);
  return `${head},"request":${requestOf(row)}${fallbacksOf(row, send)}}`;
}

/** The facts of the rule, and until when it applies; where there are more than the reason. */
function ruleFacts(decision: Decision) {
  if (decision.decision === 'done' && decision.sentTo !== undefined) return { sentTo: decision.sentTo };
  if (decision.decision !== 'skip' && decision.decision !== 'defer') return null;
  const { detail } = decision;
  const untilMs = decision.decision === 'defer' ? decision.untilMs : undefined;
  return {
    ...(detail === undefined ? {} : { detail }),
    ...(untilMs === undefined ? {} : { until: iso(untilMs) }),
  };
}

function requestOf({ request, sharedWith }: Previewed): string {
  if (sharedWith !== null) return `{"sharedWithLine":${sharedWith}}`;
  if (request === null) return 'null';
  const { url, contentType } = request.form;
  // The body of a form is a text; one of JSON has its very bytes.
  const { body } = request;
  const said = contentType === 'application/json' ? body : jsonText(body);
  return `{"method":"POST","url":${jsonText(url)},"headers":{"content-type":"${contentType}"},"body":${said}}`;
}

/** The messages of later channel steps; only for campaigns that have fallbacks. */
function fallbacksOf(row: Previewed, send: SendDecision | null): string {
  if (send === null || row.fallbacks.length === 0) return '';
  const shown = send.fallbacks.map(({ channel, to, sms }, i) => {
    const facts = jsonText({ channel, to, parts: sms?.parts ?? null, encoding: sms?.encoding ?? null });
    return `${facts.slice(0, -1)},"request":${requestOf({ ...row, request: row.fallbacks[i] ?? null })}}`;
  });
  return `,"fallbacks":[${shown.join(',')}]`;
}

async function* writeText(preview: PreviewRows, choice: PreviewChoice): AsyncGenerator<string> {
  const { campaign, environment, occurrence } = preview.plan;
  yield `${safeLine(`Preview of ${campaign.name} (${occurrence}) on ${campaign.channel}, environment ${environment.name}`)}\n`;
  yield `POST ${safeLine(environment.url)}\n\n`;
  let shown = 0;
  for await (const rows of chosen(preview, choice)) {
    shown += rows.length;
    let text = '';
    for (const row of rows) text += block(preview, row);
    yield text;
  }
  const { estimate } = preview.result();
  if (shown < estimate.rows && choice.key === null && choice.line === null) {
    yield `… and ${countOf(estimate.rows - shown, 'more row')} (--limit N, or --format jsonl for all)\n\n`;
  }
  yield factLines(previewFacts(preview));
}

/** One row: a line of facts, then the message as the recipient reads it. */
function block(preview: PreviewRows, { decision, sharedWith }: Previewed): string {
  const place = `line ${decision.line}`.padEnd(11);
  const to = safeLine(decision.to ?? '-').padEnd(16);
  const warnings = warningsOf(preview, decision)
    .map(({ message }) => `           ! ${safeLine(message)}\n`)
    .join('');
  if (decision.decision !== 'send') {
    const reason = reasonOf(decision);
    const detail = detailOf(decision);
    const why = `${decision.decision} (${reason ?? ''})${detail === null ? '' : `: ${safeLine(detail)}`}`;
    return `${place}${to} ${why}\n${warnings}\n`;
  }
  const facts = [
    ...(decision.step === 0 ? [] : [`on ${decision.channel}`]),
    ...smsFacts(decision),
    ...(decision.variant === null ? [] : [`variant ${safeLine(decision.variant)}`]),
    ...(decision.key === decision.to ? [] : [`key ${safeLine(decision.key)}`]),
    ...(sharedWith === null ? [] : [`in the request of line ${sharedWith}`]),
  ];
  const fallbacks = decision.fallbacks.map((message) => {
    const said = [`else on ${message.channel}`, ...smsFacts(message)];
    const elsewhere = message.to === decision.to ? '' : ` to ${safeLine(message.to)}`;
    return `           ${said.join(', ')}${elsewhere}\n${indented(messageOf(message, preview.stepOf(message, decision.variant)))}\n`;
  });
  const head = ['send', ...facts].join('  ');
  return `${place}${to} ${head}\n${indented(messageOf(decision, preview.stepOf(decision, decision.variant)))}\n${fallbacks.join('')}${warnings}\n`;
}

function warningsOf({ warn }: PreviewRows, decision: Decision): readonly Diagnostic[] {
  return decision.decision === 'send' || decision.decision === 'defer' ? warn(decision) : [];
}

function smsFacts({ sms }: StepMessage): readonly string[] {
  return sms === null ? [] : [`${sms.encoding}, ${partsText(sms.parts)}`];
}

function detailOf(decision: Decision): string | null {
  if (decision.decision === 'invalid') return decision.problem.message;
  if (decision.decision === 'done')
    return decision.sentTo === undefined ? null : changedText(decision.sentTo, decision.to);
  return decision.decision === 'skip' || decision.decision === 'defer' ? (decision.detail ?? null) : null;
}

/** The text or speech; for a template of the provider, the values that go into it. */
function messageOf(message: StepMessage, { template }: Step): string {
  const { channel, text, rendered, variables } = message;
  const provider = template?.kind === 'provider' ? [`[template] ${template.id}`] : [];
  const values = variables === null ? [] : namedValues(variables).map(([name, value]) => `${name} = ${value}`);
  return [...provider, ...describeContent(channel, text, rendered), ...values].join('\n');
}

function indented(text: string): string {
  return safe(text)
    .split('\n')
    .map((line) => `           | ${line}`)
    .join('\n');
}
