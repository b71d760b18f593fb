import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Campaign, Environment, InputFile, Leg, ListSpec } from '../model.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { type RowCheck, withAllFaults } from '../recipients/faults.ts';
import { openList } from '../recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../recipients/recipient.ts';
import { compileSegment } from '../recipients/segment.ts';
import { didYouMean } from '../util/suggest.ts';
import { clashIn, createExpander, type Expander } from './expand.ts';
import { createReferences, type ReferenceOf } from './reference.ts';
import { settingsInput } from './settings.ts';
import { compileStages, type Stages } from './stages.ts';
import { type CheckContent, checkFor } from './workshop.ts';

/** What would happen: a campaign, an environment and an occurrence, with everything compiled that a row needs. */
export interface Plan {
  readonly campaign: Campaign;
  readonly environment: Environment;
  readonly occurrence: string;
  readonly columns: readonly string[];
  /** Hashes of all that goes into a message, except the list, whose hash is known once it has been read. */
  readonly inputs: readonly InputFile[];
  /** Found while the plan was made: entities in an SMS, advice about content. Never errors. */
  readonly warnings: readonly Diagnostic[];
  readonly stages: Stages;
  /** Knows the limits of every channel; null where there is nothing but SMS. */
  readonly check: CheckContent | null;
  /** Most recipients of one request; 1 where each has a text, or a contact, of its own. */
  readonly recipientsPerRequest: number;
  /** handbill's own id for a recipient on a channel. */
  readonly referenceOf: ReferenceOf;
  /** Makes the requests; `startMs` is the run's first start, which dates a relative validity. */
  expander(startMs: number): Expander;
}

interface PlanOptions {
  readonly environment: string;
  readonly occurrence: string;
}

/**
 * Makes a plan: reads the header of the list, resolves columns, compiles and checks the templates.
 * Opens no connection and reads no row. Throws `HandbillError` (exit 2) with everything that is wrong.
 */
export async function createPlan(campaign: Campaign, options: PlanOptions): Promise<Plan> {
  const environment = environmentOf(campaign, options.environment);
  const list = await openList(campaign.recipients).catch(async (error: unknown) => {
    throw await withAllFaults(campaign.recipients, error, 0, (columns) => rowCheck(campaign.recipients, columns));
  });
  await list.close();
  const check = checkFor(legsIn(campaign));
  const { stages, diagnostics, isPersonal } = await compileStages(campaign, list, check);
  const errors = [...diagnostics, ...checkPlaces(campaign, environment)].filter((d) => d.severity === 'error');
  if (stages === null || errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  const identity = { environment: environment.name, campaign: campaign.name, occurrence: options.occurrence };
  const referenceOf = createReferences(identity);
  return {
    campaign,
    environment,
    occurrence: options.occurrence,
    columns: list.columns,
    inputs: [...campaign.inputs.filter((i) => i.role !== 'project'), settingsInput(campaign, environment)],
    warnings: diagnostics,
    stages,
    check,
    recipientsPerRequest: isPersonal || campaign.recipients.kind === 'contact' ? 1 : campaign.send.recipientsPerRequest,
    referenceOf,
    expander: (startMs) => createExpander(campaign, environment, referenceOf, startMs),
  };
}

/** Checks rows without the templates, where the header is wrong; null: its columns are not those that are asked for. */
function rowCheck(spec: ListSpec, columns: readonly string[]): RowCheck | null {
  if (spec.onInvalid === 'skip' || Array.isArray(resolveColumns(spec, columns))) return null;
  const compiled = spec.where === null ? null : compileSegment(spec.where, columns, spec.columns);
  if (compiled !== null && !('segment' in compiled)) return null;
  const read = createRecipientReader(spec, columns);
  return (row) => {
    if (row.values !== null && compiled?.segment.judge(row.values) === 'out') return null;
    const recipient = read(row);
    return isInvalidRow(recipient) ? recipient.problem : null;
  };
}

/** The environment of that name; throws `HandbillError` (exit 2) where there is none. */
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

function legsIn(campaign: Campaign): readonly Leg[] {
  return [campaign, ...campaign.variants.map(({ leg }) => leg), ...campaign.fallbacks];
}

const UNSUBSCRIBE_HEADER = /^list-unsubscribe(?:-post)?$/i;

/** What the environment puts somewhere must not meet what the campaign puts there. */
function checkPlaces(campaign: Campaign, { name, wire }: Environment): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const at = { file: campaign.file };
  for (const key of ['metaData', 'recipientMetaData'] as const) {
    if (campaign[key] === null || !Object.hasOwn(campaign[key], wire.referenceName)) continue;
    const message = `"${key}.${wire.referenceName}" is taken: handbill's own reference travels there (\`wire.referenceName\` of ${name}).`;
    found.push(problem('invalid-value', message, { at, hint: 'Use another name.' }));
  }
  for (const leg of legsIn(campaign)) {
    if (leg.content === null) continue;
    const clash = clashIn(leg.content.tree, wire.contentNames);
    if (clash !== null) {
      const message = `Two parts of the content of ${leg.channel} would be called "${clash}" (\`wire.contentNames\` of ${name}).`;
      found.push(
        problem('invalid-value', message, { at, hint: 'Give each key a name that no other key beside it has.' }),
      );
    }
    const header = Object.keys(campaign.recipientMetaData ?? {}).find((key) => UNSUBSCRIBE_HEADER.test(key));
    if (header !== undefined && leg.content.tree['unsubscribe'] !== undefined) {
      const message = `"recipientMetaData.${header}" and "content.unsubscribe" both say how to unsubscribe.`;
      found.push(problem('invalid-value', message, { at, hint: 'Keep one of them.' }));
    }
    if (campaign.recipients.kind !== 'contact') continue;
    if (!wire.content[leg.channel].startsWith('/recipients/')) continue;
    const message = `The environment ${name} puts the content of ${leg.channel} with each recipient, but contacts have no place for it.`;
    found.push(problem('invalid-value', message, { at, hint: 'Set `wire.content` to a place such as /body/content.' }));
  }
  return found;
}
