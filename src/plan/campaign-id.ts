import { dirname, relative, resolve, sep } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KnownCampaign } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import { isPostgres } from '../util/ledger-address.ts';

/** Paths start at the ledger, so that both can be moved together; for a ledger on a server they are absolute. */
export function knownCampaign({ id, name, inputs, project }: Campaign): KnownCampaign {
  const written = inputs.find(({ role }) => role === 'campaign')?.file ?? '';
  const path = resolve(project.root, written);
  const file = isPostgres(project.ledger) ? path : relative(dirname(project.ledger), path);
  return { id, name, file: file.split(sep).join('/') };
}

/** Why not to send: under another id than before, all recipients would look new. `known`: newest first. */
export function formerNameProblem(known: readonly KnownCampaign[], campaign: Campaign): Diagnostic | null {
  if (campaign.isIdWritten) return null;
  const own = knownCampaign(campaign);
  const last = known.find(({ id, name, file }) => id === own.id || name === own.name || file === own.file);
  if (last === undefined || last.id === own.id) return null;
  const what = last.name === own.name ? `The name "${own.name}"` : 'This file';
  const other = known.some(({ id }) => id === own.id) ? `${own.id}-2` : own.id;
  const message = `${what} is that of the campaign with the id "${last.id}" in the ledger, which was last sent as ${last.name}.`;
  const hint =
    `If it is the same campaign, add \`id: ${last.id}\`: it keeps its history, and no recipient gets an occurrence twice. ` +
    `If it is another one, add \`id: ${other}\`.`;
  return problem('former-name', message, { at: { file: campaign.file }, ...campaign.namePlace, hint });
}

/** From the project's file, else those that were last sent under this name. */
export function idsOf(
  { campaign, id }: { readonly campaign: string; readonly id: string | null },
  ledger: Ledger | null,
): readonly string[] {
  if (id !== null) return [id];
  return (ledger?.campaigns() ?? []).filter(({ name }) => name === campaign).map((one) => one.id);
}
