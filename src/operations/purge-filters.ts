import { join } from 'node:path';
import { campaignNames } from '../campaign/names.ts';
import type { ProjectPlace } from '../campaign/place.ts';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunIdentity } from '../ledger/records.ts';
import type { Project } from '../model.ts';
import { didYouMean } from '../util/suggest.ts';

/** Of which runs a ledger holds something. */
export type Held = readonly Pick<RunIdentity, 'campaign' | 'environment'>[];

export function heldBy(ledger: Pick<Ledger, 'runs' | 'purge'>): Held {
  return [...ledger.runs(), ...ledger.purge.drafts()];
}

/**
 * Refuses a filter that means nothing: whoever mistypes the name of a campaign must not be told that all is purged. A
 * name counts that the ledger holds something of, or that the project has.
 *
 * @throws HandbillError exit 2 (`campaign-not-found`, `unknown-environment`)
 */
export async function refuseUnknown(
  { campaign, environment }: { readonly campaign: string | null; readonly environment: string | null },
  held: Held,
  project: Pick<Project, 'environments' | 'file'>,
  place: ProjectPlace,
): Promise<void> {
  if (environment !== null) {
    const known = new Set([...project.environments.keys(), ...held.map((run) => run.environment)]);
    if (!known.has(environment)) throw refuse(unknownEnvironment(environment, known, project));
  }
  if (campaign === null || held.some((run) => run.campaign === campaign)) return;
  const inProject = await campaignNames(place, join(place.root, 'campaign.yaml'));
  const known = new Set([...held.map((run) => run.campaign), ...inProject.map(({ name }) => name)]);
  if (!known.has(campaign)) throw refuse(unknownCampaign(campaign, known));
}

function unknownCampaign(name: string, known: ReadonlySet<string>) {
  const hint = didYouMean(name, known).hint ?? 'handbill runs lists those that were sent.';
  return problem('campaign-not-found', `There is no campaign "${name}", neither in the ledger nor in the project.`, {
    hint,
  });
}

function unknownEnvironment(name: string, known: ReadonlySet<string>, { file }: Pick<Project, 'file'>) {
  const hint = didYouMean(name, known).hint ?? `Known here: ${[...known].join(', ')}.`;
  return problem(
    'unknown-environment',
    `There is no environment "${name}", neither in the ledger nor in the project.`,
    {
      ...(file === null ? {} : { at: { file } }),
      hint,
    },
  );
}
