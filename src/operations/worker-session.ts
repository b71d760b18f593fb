import { join } from 'node:path';
import { loadCampaign } from '../campaign/load.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Json } from '../model.ts';
import { listInput } from '../plan/check.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { createPricer } from '../plan/pricer.ts';
import { loadPrices } from '../plan/prices.ts';
import { openReach } from '../plan/reach.ts';
import { changedInputs, readSealedPlan, type SealedPlan } from '../plan/seal.ts';
import { identityHash } from '../plan/settings.ts';
import { checkHashKey } from '../plan/suppression.ts';
import { hashList } from '../recipients/read.ts';
import { type Api, prepareApi } from '../run/api.ts';
import type { Answers } from '../run/stop.ts';
import type { WorkOptions } from '../run/work.ts';
import { howListsAreRead, rateOf } from './send-rounds.ts';

/** What whoever shares a run says of it, beside what is in the ledger and in the files. */
export interface RunFacts {
  readonly recipients: string | null;
  readonly ratePerSecond: number | null;
  readonly sealed: string | null;
  readonly before: Omit<Answers, 'inDoubt'>;
}

export interface SessionNeeds {
  /** Of the project: the run says where in it the campaign is. */
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly random: () => number;
  /** Its address. */
  readonly ledger: string;
  readonly concurrency: number | null;
}

/** Everything that a worker needs for one run. */
export interface Session {
  readonly work: Omit<WorkOptions, 'interrupt'>;
  readonly before: Omit<Answers, 'inDoubt'>;
  readonly api: Api;
  readonly plan: Plan;
}

/**
 * Reads the campaign of a run from the files of this machine, and compares them with those that the run began with.
 *
 * @throws HandbillError (exit 2): they differ, or something is missing that sending needs
 */
export async function openSession(
  run: RunRecord,
  facts: RunFacts,
  ledger: Ledger,
  needs: SessionNeeds,
): Promise<Session> {
  const { cwd, env, now } = needs;
  const { recipients } = facts;
  const file = run.inputs.find(({ role }) => role === 'campaign')?.file ?? run.campaign;
  const { campaign } = await loadCampaign(join(needs.root, file), {
    cwd,
    now: now(),
    ledger: needs.ledger,
    ...(recipients === null ? {} : { recipients }),
  });
  const plan = await createPlan(campaign, { environment: run.environment, occurrence: run.occurrence });
  const list = await hashList(campaign.recipients);
  const changes = changedInputs(run.inputs, [...plan.inputs, listInput(plan, list)], 'the run began');
  const isOther = run.identityHash !== identityHash(campaign) || run.channel !== campaign.channel;
  if (changes.length > 0 || isOther) throw refuse(...differs(run, changes));
  const concurrency = needs.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  const openApi = await prepareApi({
    environment: plan.environment,
    env,
    root: campaign.project.root,
    connections: concurrency,
    timeoutMs: campaign.send.timeoutMs,
    sealed: sealedOf(facts),
    nowMs: now(),
    recipientsPerRequest: plan.recipientsPerRequest,
  });
  const prices = await loadPrices(campaign.project);
  const listsAgain = await howListsAreRead(campaign, { cwd, env, now });
  const suppressions = await listsAgain.read();
  checkHashKey(suppressions, ledger);
  const reached = await openReach(plan, ledger, now());
  const api = await openApi();
  const { endpoint, wire } = api;
  const sending = { endpoint, wire, costOf: createPricer(prices), concurrency };
  const rules = { suppressions, listsAgain, reached, ratePerSecond: rateOf(plan, facts.ratePerSecond) };
  const { random } = needs;
  return { work: { plan, ledger, run, list, ...rules, ...sending, now, random }, before: facts.before, api, plan };
}

function differs({ id }: RunRecord, changes: readonly Diagnostic[]): readonly Diagnostic[] {
  const hint = `Give this machine the files that ${id} began with: the same commit, and the same list.`;
  if (changes.length > 0) return changes.map((change) => ({ ...change, hint }));
  return [problem('identity-changed', `The campaign is not the one that ${id} began with.`, { hint })];
}

/** The approval that an environment asks for is looked for by each worker himself. */
function sealedOf({ sealed }: RunFacts): SealedPlan | null {
  if (sealed === null) return null;
  const read = readSealedPlan(sealed, 'the plan of the run');
  if ('code' in read) throw refuse(read);
  return read;
}

/** As `send --workers` wrote them (send-workers.ts, sharing.ts). */
export function factsOf(facts: Json): RunFacts {
  return facts as unknown as RunFacts;
}
