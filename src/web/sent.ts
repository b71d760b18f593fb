import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HandbillError } from '../errors.ts';
import type { RunRecord } from '../ledger/records.ts';
import { LIST_CODES, type Outcome, type SendDecision } from '../model.ts';
import { previewRows } from '../operations/preview.ts';
import { LARGEST_LIST_BYTES } from '../operations/run-people.ts';
import type { PreviewRows } from '../plan/previewed.ts';
import { hashList } from '../recipients/read.ts';
import { createYields } from '../util/long-work.ts';
import { messageNode } from './preview/message.ts';
import type { SentMessages, Site } from './site.ts';

/** Rows to read before the recipient's, to render the message again. */
const MOST_ROWS = 50_000;
const KEPT = 200;

/**
 * Renders the sent text again: the ledger does not hold texts. Shows it only where the files of the campaign and its
 * list are, byte for byte, those of the run, and give the same result for this recipient.
 */
export async function sentMessages(site: Site, run: RunRecord, outcome: Outcome): Promise<SentMessages> {
  const key = `${run.id} ${outcome.row} ${outcome.updatedAt ?? ''}`;
  const known = site.sent.get(key);
  if (known !== undefined) return known;
  let found: SentMessages;
  try {
    found = outcome.row >= MOST_ROWS ? { why: 'long' } : await make(site, run, outcome);
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    found = { why: 'changed' };
  }
  site.sent.set(key, found);
  const oldest = site.sent.keys().next().value;
  if (site.sent.size > KEPT && oldest !== undefined) site.sent.delete(oldest);
  return found;
}

async function make(site: Site, run: RunRecord, outcome: Outcome): Promise<SentMessages> {
  const { root } = site.reading.project;
  const campaign = run.inputs.find(({ role }) => role === 'campaign');
  const list = run.inputs.find(({ role }) => role === 'recipients');
  if (campaign === undefined || list === undefined) return { why: 'unknown' };
  const { cwd, env, now } = site.context;
  const source = await previewRows(join(root, campaign.file), {
    cwd,
    env,
    now,
    environment: run.environment,
    occurrence: run.occurrence,
    at: run.startedAtMs ?? run.createdAtMs,
    allow: ['invalid-rows', 'second-ledger', ...LIST_CODES],
    // The ledger would say that the message has gone out already.
    ledger: join(root, '.handbill', 'no-ledger.db'),
  });
  try {
    const { inputs } = source.plan;
    const isSame = inputs.every(({ role, file, sha256 }) =>
      run.inputs.some((one) => one.role === role && one.file === file && one.sha256 === sha256),
    );
    const { recipients } = source.plan.campaign;
    const bytes = await stat(recipients.path).then(
      ({ size }) => size,
      () => Number.POSITIVE_INFINITY,
    );
    if (!isSame || bytes > LARGEST_LIST_BYTES) return { why: 'changed' };
    if ((await hashList(recipients)).sha256 !== list.sha256) return { why: 'changed' };
    const decision = await decisionAt(source, outcome);
    if (decision === null || decision.variant !== outcome.variant) return { why: 'unknown' };
    // Messages from earlier inputs cannot be rendered again.
    const steps = (outcome.steps ?? [outcome]).filter(({ version = run.version }) => version === run.version);
    const channels = new Set(steps.map(({ channel }) => channel));
    const shown = [decision, ...decision.fallbacks].filter(({ channel }) => channels.has(channel));
    const nodes = shown.map((one) => [one.channel, messageNode(one, source.stepOf(one, decision.variant))] as const);
    return nodes.length === 0 ? { why: 'changed' } : { messages: new Map(nodes) };
  } finally {
    source.close();
  }
}

async function decisionAt({ batches }: PreviewRows, { row, key }: Outcome): Promise<SendDecision | null> {
  const turn = createYields();
  for await (const batch of batches) {
    const found = batch.find(({ decision }) => decision.row === row)?.decision;
    if (found !== undefined) return found.decision === 'send' && found.key === key ? found : null;
    await turn();
  }
  return null;
}
