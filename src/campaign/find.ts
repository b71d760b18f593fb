import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import { maskNumbers } from '../util/mask.ts';
import { findFileAnywhere } from '../util/paths.ts';
import { didYouMean } from '../util/suggest.ts';
import { peekCampaign } from './names.ts';
import { faultAt } from './read-text.ts';
import { entriesOf, kindOf, yamlFilesBelow } from './walk.ts';

const CAMPAIGN_FILE = 'campaign.yaml';
const CAMPAIGNS_FOLDER = 'campaigns';
const PROJECT_FILE = 'handbill.yaml';

/** A campaign file: its real path, and the path by which it was found. */
export interface FoundCampaign {
  readonly path: string;
  readonly named: string;
}

/**
 * Finds the campaign that was named: a file, a folder with a campaign.yaml, or a bare name for
 * `campaigns/<name>/campaign.yaml` here or in a folder above, up to the root of the git repository.
 */
export async function findCampaign(
  target: string,
  cwd: string,
): Promise<FoundCampaign | { readonly problem: Diagnostic }> {
  if (target === '' || target.includes('\0'))
    return notFound(target, [], 'Name a campaign file, a folder or a campaign.');
  const path = resolve(cwd, target);
  const kind = await kindOf(path);
  if (kind === 'file') return await regular(path, target);
  if (kind === 'folder' && (await kindOf(join(path, CAMPAIGN_FILE))) !== null) {
    return await regular(join(path, CAMPAIGN_FILE), target);
  }
  const isName = !/[/\\]/.test(target);
  const known: string[] = [];
  for (const folder of isName ? await foldersUpwards(cwd) : []) {
    const file = join(folder, CAMPAIGNS_FOLDER, target, CAMPAIGN_FILE);
    if ((await kindOf(file)) !== null) return await regular(file, target);
    known.push(...(await namesIn(join(folder, CAMPAIGNS_FOLDER))));
  }
  if (kind === 'folder') return notFound(target, known, `The folder holds no ${CAMPAIGN_FILE}.`);
  if (isName)
    return notFound(target, known, known.length > 0 ? `Campaigns here: ${known.slice(0, 20).join(', ')}.` : NONE);
  const found = await findFileAnywhere(cwd, target);
  return notFound(target, [], ('fault' in found ? found.fault.hint : undefined) ?? NONE);
}

/** What lists of recipients are called. */
const LIST = /\.(?:csv|tsv|xlsx?|ods)$/i;

const NONE = `A campaign is a YAML file, or a folder with a ${CAMPAIGN_FILE}.`;

function notFound(target: string, known: readonly string[], otherwise: string): { readonly problem: Diagnostic } {
  const name = target.length <= 200 ? target : `${target.slice(0, 200)}…`;
  const hint = didYouMean(name, known).hint ?? otherwise;
  return { problem: problem('campaign-not-found', `There is no campaign "${maskNumbers(name)}".`, { hint }) };
}

async function regular(path: string, target: string): Promise<FoundCampaign | { readonly problem: Diagnostic }> {
  if (LIST.test(path)) {
    const hint = 'Name the campaign, and set `recipients` in it to the list, or add --recipients FILE.';
    return {
      problem: problem('campaign-not-found', 'This is a list; the campaign is a YAML file.', {
        at: { file: target },
        hint,
      }),
    };
  }
  const found = await findFileAnywhere(dirname(path), path);
  return 'path' in found
    ? { path: found.path, named: path }
    : { problem: faultAt(found.fault, { at: { file: target } }) };
}

/** The folder and those above it, up to the root of the git repository; without one, all. */
async function foldersUpwards(cwd: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let folder = await realpath(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder || (await kindOf(join(folder, '.git'))) !== null) return folders;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const checks = names.map(async (name) => ((await kindOf(join(folder, name, CAMPAIGN_FILE))) === null ? [] : [name]));
  return (await Promise.all(checks)).flat();
}

/**
 * The campaign files that paths mean, sorted. Without paths: every `campaigns/**\/campaign.yaml` below `cwd`. A file is
 * taken as it is; in a folder, every campaign.yaml and every other YAML file that looks like a campaign, and where there
 * is neither, every YAML file: whoever names a folder of them wants them checked.
 */
export async function findCampaigns(
  paths: readonly string[],
  cwd: string,
): Promise<{ readonly files: readonly string[]; readonly diagnostics: readonly Diagnostic[] }> {
  const files = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  if (paths.length === 0) {
    for (const file of await yamlFilesBelow(resolve(cwd))) {
      const parts = file.slice(resolve(cwd).length).split(/[/\\]/);
      if (parts.includes(CAMPAIGNS_FOLDER) && parts.at(-1) === CAMPAIGN_FILE) files.add(file);
    }
  }
  for (const path of paths) {
    const full = resolve(cwd, path);
    const kind = path.includes('\0') ? null : await kindOf(full);
    if (kind === 'file') files.add(full);
    else if (kind === 'folder') for (const file of await campaignsBelow(full)) files.add(file);
    else {
      const found = await findCampaign(path, cwd);
      if ('problem' in found) diagnostics.push(found.problem);
      else files.add(found.named);
    }
  }
  return { files: [...files].sort(), diagnostics };
}

/** The YAML files below a folder that are campaigns, or all where none looks like one. */
async function campaignsBelow(folder: string): Promise<readonly string[]> {
  const all = (await yamlFilesBelow(folder)).filter((file) => !file.endsWith(`/${PROJECT_FILE}`));
  const campaigns: string[] = [];
  for (const file of all) {
    if (file.endsWith(`/${CAMPAIGN_FILE}`) || (await peekCampaign(file)) !== null) campaigns.push(file);
  }
  return campaigns.length > 0 ? campaigns : all;
}
