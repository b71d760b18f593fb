import { loadCampaign } from '../campaign/load.ts';
import { EXIT, type ExitStatus, problem, refuse } from '../errors.ts';
import type { AnswerReading, ShownExchange } from '../http/explain.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { type Campaign, type Environment, LEDGER_CODES, type ListGuards } from '../model.ts';
import { checkList } from '../plan/check.ts';
import { loadPrices } from '../plan/estimate.ts';
import { UNGUARDED } from '../plan/list-guard.ts';
import { createPlan, environmentOf, type Plan } from '../plan/plan.ts';
import { openRules } from '../plan/skip-rules.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import { type TestMessage, testMessages, testRow, type WhichRow } from '../plan/testers.ts';
import { createMemory } from '../send/memory.ts';
import { safeLine } from '../util/escape.ts';
import { given } from '../util/given.ts';
import { testOccurrence } from '../util/occurrence-name.ts';
import { mask } from '../util/redact.ts';
import { checkAllow } from './options.ts';
import { type StartOptions, type StartResult, sendPlan, toSendResult } from './send-once.ts';

/** Passed unchanged to the start of each message. */
const PASSED = ['random', 'concurrency', 'ratePerSecond', 'signal', 'cutSignal', 'onEvent', 'timers'] as const;

interface SendTestOptions
  extends WhichRow,
    Pick<
      StartOptions,
      | ('cwd' | 'env' | 'now' | 'environment' | 'ledger' | 'recipients' | 'pipedList' | 'allow')
      | (typeof PASSED)[number]
    > {
  /** Empty: the testers in handbill.yaml whose channel fits. */
  readonly testers: readonly string[];
  /** Only the message of this variant, and its own fallbacks. Default: those of every variant, and every fallback. */
  readonly variant?: string;
  /** Asked once, before the first request of any environment but the sandbox; false refuses. Default: refuse. */
  readonly confirm?: (question: TestQuestion) => Promise<boolean>;
}

interface TestQuestion {
  readonly campaign: string;
  readonly environment: string;
  readonly url: string;
  readonly row: { readonly file: string; readonly line: number };
  readonly messages: readonly Pick<TestMessage, 'name' | 'to'>[];
}

/**
 * Sends the messages of one row to testers, exactly as recipients would get them. Each message is a separate run, whose
 * occurrence marks it as a test. The campaign's occurrences, list and frequency caps stay unchanged. Throws as `send`
 * does; exit 2 also if no tester fits, or there is no such row or variant.
 */
export async function sendTest(target: string, options: SendTestOptions) {
  checkAllow(options, LEDGER_CODES);
  const { cwd, env, now, environment = 'sandbox' } = options;
  const { campaign, warnings } = await loadCampaign(target, {
    cwd,
    env,
    ...given(options, 'recipients', 'pipedList', 'ledger'),
    sends: true,
    ...given(options, 'allow'),
  });
  const real = await createPlan(campaign, { environment, occurrence: 'once', nowMs: now() });
  const row = await testRow(real, options);
  const named = options.testers.length > 0;
  const addresses = named ? options.testers : campaign.project.testers;
  const messages = testMessages(real, row, { addresses, named, variant: options.variant ?? null });
  refuseStrangers(real, messages);
  const at = freeMoment(campaign, real.environment.identity, messages, now());
  const plans: Plan[] = [];
  for (const { campaign: own, part } of messages) {
    const open = withoutRules(own, environmentOf(own, environment), messages);
    plans.push(await createPlan(open, { environment, occurrence: testOccurrence(at, part), nowMs: at }));
  }
  options.onEvent?.({ kind: 'warnings', warnings: [...warnings, ...real.warnings] });
  await checkAll(plans, options);
  const question = {
    campaign: campaign.name,
    environment,
    url: real.environment.url,
    row: { file: campaign.recipients.file, line: row.line },
    messages: messages.map(({ name, to }) => ({ name, to })),
  };
  let answer: Promise<boolean> | null = null;
  const confirm = (): Promise<boolean> => {
    answer ??= options.confirm?.(question) ?? Promise.resolve(false);
    return answer;
  };
  const results: StartResult[] = [];
  const exchanges: (ShownExchange & { readonly run: string })[] = [];
  for (const plan of plans) {
    const last = results.at(-1);
    if (last !== undefined && (ENDS.has(last.exit) || options.signal?.aborted === true)) break;
    // The first message has made or accepted the ledger.
    const allow = last === undefined ? (options.allow ?? []) : [];
    const shown: ShownExchange[] = [];
    const onExchange = (one: ShownExchange): void => void shown.push(one);
    const start = { ...given(options, ...PASSED), cwd, env: options.env, now, environment, confirm, allow, onExchange };
    const result = await sendPlan(plan, start, createMemory());
    results.push(result);
    exchanges.push(...shown.map((exchange) => ({ run: result.report.run, ...exchange })));
  }
  const exit = results.reduce<ExitStatus>((worst, one) => (one.exit > worst ? one.exit : worst), EXIT.done);
  return { question, results: results.map((result) => toSendResult(result, [])), exchanges, exit };
}

/** A problem that stopped one message would also stop the next. */
const ENDS: ReadonlySet<ExitStatus> = new Set([EXIT.halted, EXIT.ledger]);

/** In an environment that needs approval, a test may go only to the testers of the project. */
function refuseStrangers({ environment }: Plan, messages: readonly TestMessage[]): void {
  const [stranger] = messages.flatMap(({ strangers }) => strangers);
  if (environment.approval === null || stranger === undefined) return;
  const text = `${environment.name} takes approved plans alone, and ${mask(stranger)} is not one of its testers.`;
  const hint = 'Tests go there to the addresses under `testers` in handbill.yaml alone.';
  throw refuse(problem('not-approved', text, { hint }));
}

/** A test needs no approved plan (`refuseStrangers`), and to testers alone no commit. Guards are for whole lists. */
function withoutRules(campaign: Campaign, environment: Environment, messages: readonly TestMessage[]): Campaign {
  const { project } = campaign;
  const git = messages.some(({ strangers }) => strangers.length > 0) ? environment.git : null;
  const environments = new Map(project.environments).set(environment.name, { ...environment, approval: null, git });
  const guards: ListGuards = { maxAge: null, minRecipients: null, change: null };
  return { ...campaign, guards, project: { ...project, environments } };
}

/** A moment at which no other test of the campaign began. */
function freeMoment(
  { id, project }: Campaign,
  environment: string,
  messages: readonly TestMessage[],
  nowMs: number,
): number {
  using ledger = openExistingLedger(project.ledger, { nowMs });
  if (ledger === null) return nowMs;
  const used = new Set(ledger.runsOf({ environment, campaign: id }).map(({ occurrence }) => occurrence));
  let at = nowMs;
  while (messages.some(({ part }) => used.has(testOccurrence(at, part)))) at += 1;
  return at;
}

/** Renders every message before it sends the first one; a template that fails refuses all (failures.md, A3). */
async function checkAll(plans: readonly Plan[], { env, now }: SendTestOptions): Promise<void> {
  for (const plan of plans) {
    const suppressions = await loadSuppressions(plan.campaign, env);
    const prices = loadPrices(plan.campaign.project);
    using ledger = openExistingLedger(plan.campaign.project.ledger, { nowMs: now() });
    const view = { rules: openRules(plan, { suppressions, ledger, now }), skipsInvalid: false };
    await checkList(plan, view, { prices, guard: UNGUARDED }, () => undefined);
  }
}

export function stateAnswer(reading: AnswerReading): string {
  const { to, status, outcome, reason, messageId, messageIdAt, decidedBy, referenceAt } = reading;
  const became = reason === null ? outcome : `${outcome} (${reason})`;
  const place = messageIdAt === null ? '' : ` at \`${messageIdAt}\``;
  const id = messageId === null ? 'No message id was found.' : `Message id ${messageId}${place}.`;
  const reference =
    referenceAt === null
      ? "The answer does not hold handbill's reference."
      : `handbill's reference is at \`${referenceAt}\`.`;
  return safeLine(`Answer to ${mask(to)}: ${status ?? 'none'}, ${became}: ${decidedBy}. ${id} ${reference}`);
}

/** A test in one line: which message, which row's data, which tester. */
export function stateTest({ campaign, environment, url, row, messages }: TestQuestion): string {
  const said = messages.map(({ name, to }) => `${name} to ${to.map(mask).join(', ')}`).join('; ');
  return safeLine(`Test of ${campaign} on ${environment}, ${url}, with the data of ${row.file}:${row.line}: ${said}.`);
}
