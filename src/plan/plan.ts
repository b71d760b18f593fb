import { type Code, type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Campaign, Environment, InputFile, ListSpec } from '../model.ts';
import type { Provider } from '../providers/provider.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { type RowCheck, withAllFaults } from '../recipients/faults.ts';
import { columnTypes } from '../recipients/query.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../recipients/recipient.ts';
import { compileSegment } from '../recipients/segment.ts';
import { didYouMean } from '../util/suggest.ts';
import { checkFor, compileCampaign, stepsIn } from './compile.ts';
import { type DayFacts, dayInput, whereDay } from './day.ts';
import { createExpander, createReferences, type Expander, type ExpandOptions } from './expand.ts';
import { openFence, redirectFaults, redirectMark } from './fence.ts';
import { checkProvider } from './provider-check.ts';
import { inputsOf } from './settings.ts';

export type Plan = Readonly<Awaited<ReturnType<typeof createPlan>>>;

type PlanOptions = DayFacts & {
  readonly environment: string;
  /** Texts are as long as this one takes; default: the environment's own. */
  readonly provider?: Provider | undefined;
};

/** Opens no connection and reads no row. Throws `HandbillError` (exit 2) with all errors. */
export async function createPlan(campaign: Campaign, options: PlanOptions) {
  const environment = environmentOf(campaign, options.environment);
  const day = whereDay(campaign, options);
  const today = day?.ms ?? 0;
  const { recipients } = campaign;
  const list = await openList(recipients).catch(async (error: unknown) => {
    const all = await withAllFaults(recipients, error, 0, (columns) => rowCheck(recipients, columns, today));
    if (!(all instanceof HandbillError)) throw all;
    const others = [
      ...(await textFaults(campaign)),
      ...checkProvider(campaign, environment, options.nowMs).filter(isError),
    ];
    throw new HandbillError(all.exit, [...all.diagnostics, ...others], all.total + others.length);
  });
  await list.close();
  const check = checkFor(stepsIn(campaign));
  const fence = await openFence(environment, campaign.project);
  const isRedirected = fence !== null && fence.redirect.size > 0;
  const mark = isRedirected ? redirectMark : null;
  const { compiled, diagnostics, isPersonal } = await compileCampaign(campaign, list, check, today, {
    mark,
    provider: options.provider ?? environment.provider,
  });
  const limits = checkProvider(campaign, environment, options.nowMs);
  const errors = [...diagnostics, ...limits, ...redirectFaults(campaign, environment, fence)].filter(isError);
  if (compiled === null || errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  const { occurrence } = options;
  const referenceOf = createReferences({ environment: environment.identity, campaign: campaign.id, occurrence });
  return {
    campaign,
    environment,
    occurrence,
    columns: list.columns,
    /** The day from which relative dates in `recipients.where` count; null: none is relative. */
    day,
    /** Hashes of all that goes into a message, except the list, whose hash is known once it has been read. */
    inputs: [
      ...inputsOf(campaign, environment),
      ...(day === null ? [] : [dayInput(day)]),
      ...(fence?.inputs ?? []),
    ] as readonly InputFile[],
    /** Never errors. */
    warnings: [...diagnostics, ...limits, ...(fence?.notices ?? [])] as readonly Diagnostic[],
    compiled,
    /** Null: sends to all addresses. */
    fence,
    /** Null where all messages are SMS. */
    check,
    /** Most recipients of one request; 1 where texts differ by recipient, or for contacts. */
    recipientsPerRequest:
      isPersonal || isRedirected || recipients.kind === 'contact' || recipients.each !== null
        ? 1
        : Math.min(campaign.send.recipientsPerRequest, environment.provider.limits.recipients),
    referenceOf,
    /** Makes the requests; `startMs` is the run's first start, which dates a relative validity. */
    expander: (startMs: number, more?: Pick<ExpandOptions, 'secrets' | 'now'>): Expander =>
      createExpander(campaign, environment, referenceOf, {
        startMs,
        ...more,
        ...(fence === null ? {} : { redirect: fence.redirect }),
      }),
  };
}

/** The lowest of the limits that are set: the option, the environment's and the campaign's. */
export function rateOf({ environment, campaign }: Plan, ratePerSecond: number | null | undefined): number | null {
  const rates = [ratePerSecond, environment.ratePerSecond, campaign.send.ratePerSecond];
  const set = rates.filter((rate) => rate !== null && rate !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

/** The errors that do not depend on columns: for a list that is missing, or whose header cannot be read. */
export async function textFaults(campaign: Campaign): Promise<readonly Diagnostic[]> {
  const { diagnostics } = await compileCampaign(
    campaign,
    { columns: [], headerLine: 1, laterHeader: null },
    checkFor(stepsIn(campaign)),
    0,
  );
  return diagnostics.filter(({ severity, code }) => severity === 'error' && !ABOUT_COLUMNS.has(code));
}

/** Codes that say nothing useful while no column is known. */
const ABOUT_COLUMNS: ReadonlySet<Code> = new Set<Code>([
  'unknown-name',
  'unknown-column',
  'invalid-where',
  'template-needs',
]);

/** For a wrong header; null: its columns are not those that the campaign names. */
function rowCheck(spec: ListSpec, columns: readonly string[], today: number): RowCheck | null {
  if (spec.onInvalid === 'skip' || Array.isArray(resolveColumns(spec, columns))) return null;
  const compiled = spec.where === null ? null : compileSegment(spec.where, columns, columnTypes(spec), today);
  if (compiled !== null && !('segment' in compiled)) return null;
  const read = createRecipientReader(spec, columns);
  return (row) => {
    if (row.values !== null && compiled?.segment.judge(row.values) === 'out') return null;
    const recipient = read(row);
    return isInvalidRow(recipient) ? recipient.problem : null;
  };
}

/** @throws HandbillError (exit 2): there is none */
export function environmentOf(campaign: Pick<Campaign, 'project'>, name: string): Environment {
  const environment = campaign.project.environments.get(name);
  if (environment !== undefined) return environment;
  const known = [...campaign.project.environments.keys()];
  throw refuse(
    problem('unknown-environment', `There is no environment "${name}".`, {
      at: { file: campaign.project.file ?? 'handbill.yaml' },
      hint:
        didYouMean(name, known).hint ?? `Environments are defined in handbill.yaml; known here: ${known.join(', ')}.`,
    }),
  );
}

/** The sandbox needs no key, and sends to no real recipient. */
export function isSandbox({ environment }: Pick<Plan, 'environment'>): boolean {
  return environment.secrets === null;
}
