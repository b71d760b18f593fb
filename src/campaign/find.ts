import { realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { type Diagnostic, HandbillError, problem } from '../errors.ts';
import { repositoryOf } from '../util/git.ts';
import { valueAt } from '../util/json.ts';
import { displayPath, findFileAnywhere, foldersUp, isInside, readSmallFile, realPath } from '../util/paths.ts';
import { maskNumbers } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import { listWithOr, shortened } from '../util/words.ts';
import {
  type CampaignPath,
  entriesOf,
  findProject,
  kindOf,
  PROJECT_FILE,
  type ProjectPlace,
  yamlFilesBelow,
} from './place.ts';
import { MAX_YAML_BYTES, readYaml } from './yaml.ts';

const CAMPAIGN_FILE = 'campaign.yaml';
const CAMPAIGNS_FOLDER = 'campaigns';

export interface FoundCampaign extends CampaignPath {
  readonly siblings?: readonly NamedCampaign[];
}

type Finding = FoundCampaign | { readonly problem: Diagnostic };

/**
 * Finds a campaign by a file, a folder with a campaign.yaml, or a bare name: the `name` of a campaign of the project,
 * or a folder here or in `campaigns/`, here or in a folder above, up to the root of the git repository. Refuses a bare
 * name with two matches: the wrong one may be to thousands of people.
 * @param known - the project, if known
 */
export function findCampaign(target: string, cwd: string, known?: ProjectPlace): Finding {
  if (target === '' || target.includes('\0'))
    return notFound(target, [], 'Name a campaign file, a folder or a campaign.');
  const path = resolve(cwd, target);
  const kind = kindOf(path);
  const file = kind === 'folder' ? join(path, CAMPAIGN_FILE) : path;
  const isThere = kind === 'file' || (kind === 'folder' && kindOf(file) !== null);
  if (/[/\\]|^\.{1,2}$/.test(target)) {
    if (isThere) return regular(file, target);
    if (kind === 'folder') return notFound(target, [], NO_FILE);
    const found = findFileAnywhere(cwd, target);
    return notFound(target, [], ('fault' in found ? found.fault.hint : undefined) ?? NONE);
  }
  const { files: folders, names } = inCampaignsFolders(target, cwd);
  const { named, siblings, root, problem: unclear } = inProject(target, cwd, known);
  const all = new Map<string, string>();
  for (const one of [...(isThere ? [file] : []), ...folders, ...named]) {
    const real = realPath(one) ?? one;
    if (!all.has(real)) all.set(real, one);
  }
  // A folder above may be of another project: ignore it where this project has a match.
  const own = [...all].filter(([real, one]) => one === file || root === null || isInside(root, real));
  const files = own.length > 0 ? own : [...all];
  const [only, another] = files.map(([, one]) => one);
  if (another !== undefined) {
    const names = listWithOr(files.map(([, one]) => displayPath(one, cwd)).sort());
    const hint = 'Name the file that you mean.';
    return { problem: problem('campaign-ambiguous', `"${target}" may mean ${names}.`, { hint }) };
  }
  if (only !== undefined) return { ...regular(only, target), ...(siblings === null ? {} : { siblings }) };
  if (unclear !== null) return { problem: unclear };
  const here = [...new Set([...names, ...(siblings ?? []).map(({ name }) => name)])];
  if (kind === 'folder') return notFound(target, here, NO_FILE);
  return notFound(target, here, here.length > 0 ? `Campaigns here: ${here.slice(0, 20).join(', ')}.` : NONE);
}

/**
 * The nearest `campaigns/NAME/campaign.yaml`, up to the root of the git repository, and the names of all folders that
 * were searched.
 */
function inCampaignsFolders(target: string, cwd: string) {
  const names: string[] = [];
  const here = realpathSync.native(cwd);
  const repository = repositoryOf(here);
  for (const above of foldersUp(here)) {
    const folder = join(above, CAMPAIGNS_FOLDER);
    const file = join(folder, target, CAMPAIGN_FILE);
    if (kindOf(file) !== null) return { files: [file], names };
    const folders = entriesOf(folder).filter((entry) => entry.isDirectory());
    names.push(...folders.map(({ name }) => name).filter((name) => kindOf(join(folder, name, CAMPAIGN_FILE)) !== null));
    if (above === repository) break;
  }
  return { files: [], names };
}

function inProject(target: string, cwd: string, known: ProjectPlace | undefined) {
  try {
    const place = known ?? findProject(cwd);
    const all = campaignNames(place, null);
    const named = all.filter(({ name }) => name === target).map(({ file }) => file);
    const root = place.isMarked ? place.root : null;
    return { named, siblings: place.file === null ? null : all, root, problem: null };
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return { named: [], siblings: null, root: null, problem: error.diagnostics[0] ?? null };
  }
}

const NO_FILE = `The folder holds no ${CAMPAIGN_FILE}.`;
const NONE = `A campaign is a YAML file, or a folder with a ${CAMPAIGN_FILE}.`;

function notFound(target: string, known: readonly string[], otherwise: string): { readonly problem: Diagnostic } {
  const name = shortened(target, 200);
  const hint = didYouMean(name, known).hint ?? otherwise;
  return { problem: problem('campaign-not-found', `There is no campaign "${maskNumbers(name)}".`, { hint }) };
}

function regular(path: string, target: string): Finding {
  if (/\.(?:csv|tsv|xlsx?|ods)$/i.test(path)) {
    const hint = 'Name the campaign, and set `recipients` in it to the list, or add --recipients FILE.';
    const message = 'This is a list; the campaign is a YAML file.';
    return { problem: problem('campaign-not-found', message, { at: { file: target }, hint }) };
  }
  const found = findFileAnywhere(dirname(path), path);
  return 'path' in found ? { path: found.path, named: path } : { problem: { ...found.fault, at: { file: target } } };
}

/**
 * The campaign files of the paths, sorted; default: every `campaigns/**\/campaign.yaml` below `cwd`. In a folder it
 * takes files that look like campaigns, else every YAML file: a user who names it wants its files checked.
 */
export function findCampaigns(paths: readonly string[], cwd: string) {
  const files = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  if (paths.length === 0) {
    for (const file of yamlFilesBelow(resolve(cwd))) {
      const parts = file.slice(resolve(cwd).length).split(/[/\\]/);
      if (parts.includes(CAMPAIGNS_FOLDER) && parts.at(-1) === CAMPAIGN_FILE) files.add(file);
    }
  }
  for (const path of paths) {
    const full = resolve(cwd, path);
    const kind = path.includes('\0') ? null : kindOf(full);
    const found = kind === 'file' ? null : findCampaign(path, cwd);
    if (found !== null && 'problem' in found && (kind === null || found.problem.code === 'campaign-ambiguous')) {
      diagnostics.push(found.problem);
    } else if (kind === 'folder') for (const file of campaignsBelow(full)) files.add(file);
    else files.add(found !== null && 'named' in found ? found.named : full);
  }
  // `hello/` is before `hello-2/`, although `-` is before `/`.
  const place = (file: string): string => file.replaceAll(sep, '\0');
  return { files: [...files].sort((a, b) => (place(a) < place(b) ? -1 : 1)), diagnostics };
}

/** The YAML files below a folder that look like campaigns, else all. */
function campaignsBelow(folder: string): readonly string[] {
  const all = yamlFilesBelow(folder).filter((file) => !file.endsWith(`/${PROJECT_FILE}`));
  const campaigns: string[] = [];
  for (const file of all) {
    if (file.endsWith(`/${CAMPAIGN_FILE}`) || peek(file) !== null) campaigns.push(file);
  }
  return campaigns.length > 0 ? campaigns : all;
}

export interface NamedCampaign {
  readonly name: string;
  readonly file: string;
  readonly id: string;
}

/**
 * The campaigns of a project, by real path: everything below handbill.yaml; without one (the root may be a large
 * repository), `campaigns/` and the folders around the campaign.
 * @param file - real path of a campaign file; null: only `campaigns/`
 */
export function campaignNames(project: ProjectPlace, file: string | null): readonly NamedCampaign[] {
  const { root } = project;
  const folders = [project.file === null ? join(root, CAMPAIGNS_FOLDER) : root];
  if (project.file === null && file !== null) {
    const folder = dirname(dirname(file));
    folders.push(isInside(root, folder) && folder !== root ? folder : dirname(file));
  }
  const files = new Set(folders.flatMap(yamlFilesBelow));
  const named: NamedCampaign[] = [];
  for (const path of files) {
    const found = peek(path);
    if (found !== null) named.push({ ...found, file: realpathSync.native(path) });
  }
  return named;
}

/** The name and id in a campaign file, without parsing all of it; null where it does not look like a campaign. */
export function peek(path: string): Pick<NamedCampaign, 'name' | 'id'> | null {
  const read = readSmallFile(path, MAX_YAML_BYTES);
  if ('fault' in read) return null;
  const text = Buffer.from(read.bytes).toString('utf8');
  if (/^\s*\{/.test(text)) {
    // For JSON, where keys are not at the beginning of lines.
    const { value } = readYaml(read.bytes, path).yaml ?? {};
    const [name, id = name] = [valueAt(value, '/name'), valueAt(value, '/id')];
    if (!isName(name) || !/"(?:template|content|variants)"/.test(text)) return null;
    return { name, id: isName(id) ? id : name };
  }
  // Other files have a name and content too, but no recipients.
  const isCampaign = TEMPLATE.test(text) || (MESSAGE.test(text) && RECIPIENTS.test(text));
  const name = isCampaign ? NAME.exec(text)?.[1] : undefined;
  return name === undefined ? null : { name, id: ID.exec(text)?.[1] ?? name };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9-]{1,64}$/.test(value);
}

const NAME = /^["']?name["']?[ \t]*:[ \t]+["']?([a-z0-9-]{1,64})["']?[ \t]*(?:#.*)?\r?$/m;
const ID = /^["']?id["']?[ \t]*:[ \t]+["']?([a-z0-9-]{1,64})["']?[ \t]*(?:#.*)?\r?$/m;
const TEMPLATE = /^["']?template["']?[ \t]*:/m;
const MESSAGE = /^["']?(?:content|variants)["']?[ \t]*:/m;
const RECIPIENTS = /^["']?recipients["']?[ \t]*:/m;
