import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Diagnostic, EXIT, HandbillError, problem, warning } from '../errors.ts';
import type { Campaign, FollowUp, InputFile } from '../model.ts';
import { valueAt } from '../util/json.ts';
import { displayPath, fromRoot, listFolders, readSmallFile, realPath, type SmallFile } from '../util/paths.ts';
import { isSlipOf } from '../util/suggest.ts';
import { campaignNames, type FoundCampaign, findCampaign, type NamedCampaign } from './find.ts';
import { mergeDefaults } from './merge.ts';
import { normalizeCampaign } from './normalize.ts';
import { findProject, ifClear, otherProject, type ProjectPlace, projectOf } from './place.ts';
import { type ProjectReading, type ReadProjectOptions, readProject } from './project.ts';
import { findSuppressions } from './read-suppressions.ts';
import { readSources } from './sources.ts';
import { checkFile } from './validate.ts';
import { MAX_YAML_BYTES, readYaml, whereValue, type YamlFile } from './yaml.ts';

export interface ReadOptions extends ReadProjectOptions {
  /** Paths of the command line, and paths in messages, are relative to it. */
  readonly cwd: string;
  /** Variables of the process: HANDBILL_LISTS names folders outside the project in which lists may be. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A list to use instead of the campaign's; relative to `cwd`, and may be anywhere. */
  readonly recipients?: string;
  /** The file with standard input, for the list `-`. Default: such a list is refused. */
  readonly pipedList?: string;
  /**
   * For planning: the plan refuses a missing list, together with faults of the templates. Default: false, a missing
   * list is an error here.
   */
  readonly withoutList?: boolean;
  /** For those who send nothing: a list that is not there is read from its sample. Default: false. */
  readonly withSample?: boolean;
  readonly place?: ProjectPlace;
  /** The campaigns of the project, if known (`campaignNames`): speeds up reading many campaigns. */
  readonly siblings?: readonly NamedCampaign[];
  /** The campaign file, if it was read already. */
  readonly read?: SmallFile;
  /** The projects read so far, by root, for commands that read many campaigns with the same options. */
  readonly projects?: Map<string, ProjectReading>;
}

interface CampaignReading {
  /** Null: there is an error. */
  readonly campaign: Campaign | null;
  /** Sorted by file, line and column. */
  readonly diagnostics: readonly Diagnostic[];
  readonly file: string | null;
  /** The ledger must not be used, and why, for commands that use it; see `secondLedger`. */
  readonly ledgerFault: Diagnostic | null;
}

/**
 * Reads a campaign with its project, template and partials, and finds its list. Returns all faults at once, and throws
 * none. The project is that of the command (`projectOf`); a campaign outside it is refused.
 * @param target - a campaign file, a folder with a campaign.yaml, or a name (see `findCampaign`)
 */
export async function readCampaign(target: string, options: ReadOptions): Promise<CampaignReading> {
  const cwd = realpathSync.native(options.cwd);
  const found = findCampaign(target, cwd, options.place);
  if ('problem' in found) return { ...NOTHING, diagnostics: [found.problem], file: null };
  const file = displayPath(found.named, cwd);
  const read = await readFound(found, file, { ...options, cwd }).catch((error: unknown) => {
    // For example, the project is ambiguous.
    if (error instanceof HandbillError) return { ...NOTHING, diagnostics: error.diagnostics };
    throw error;
  });
  const { campaign, diagnostics, ledgerFault } = read;
  const failed = diagnostics.some((d) => d.severity === 'error');
  const inOrder = diagnostics.toSorted(
    ({ at: a }, { at: b }) =>
      (a?.file ?? '').localeCompare(b?.file ?? '', 'en') ||
      (a?.line ?? 0) - (b?.line ?? 0) ||
      (a?.column ?? 0) - (b?.column ?? 0),
  );
  return { campaign: failed ? null : campaign, diagnostics: inOrder, file, ledgerFault };
}

const NOTHING = { campaign: null, ledgerFault: null };

/**
 * As `readCampaign`, for commands that plan the campaign or use its ledger.
 * @throws HandbillError with exit status 2 and all faults
 */
export async function loadCampaign(target: string, options: ReadOptions) {
  const { campaign, diagnostics, ledgerFault } = await readCampaign(target, { ...options, withoutList: true });
  const warnings = diagnostics.filter((d) => d.severity === 'warning');
  if (campaign !== null && ledgerFault === null) return { campaign, warnings };
  const errors = diagnostics.filter((d) => d.severity === 'error');
  throw new HandbillError(EXIT.refused, [...errors, ...(ledgerFault === null ? [] : [ledgerFault]), ...warnings]);
}

async function readFound(
  found: FoundCampaign,
  file: string,
  options: ReadOptions,
): Promise<Omit<CampaignReading, 'file'>> {
  const folder = dirname(found.path);
  const place = options.place ?? projectOf(options.cwd, found);
  const other = otherProject(place, found, options.cwd);
  if (other !== null) return { ...NOTHING, diagnostics: [other] };
  const { root } = place;
  const project = options.projects?.get(root) ?? readProject(place, options);
  options.projects?.set(root, project);
  const read = options.read ?? readSmallFile(found.path, MAX_YAML_BYTES, file);
  if ('fault' in read) {
    return { ...NOTHING, diagnostics: [{ ...read.fault, at: { file } }, ...project.diagnostics] };
  }
  const { yaml, diagnostics: syntax } = readYaml(read.bytes, file);
  if (yaml === null) return { ...NOTHING, diagnostics: [...syntax, ...project.diagnostics] };

  const checked = checkFile('campaign', yaml);
  const merged = mergeDefaults(checked.value, project.written, { campaign: checked.yaml, project: project.yaml });
  const shared = project.written.partials;
  const folders = listFolders(options.env ?? {});
  const sources = readSources(merged, {
    root,
    path: found.path,
    file,
    folder,
    cwd: options.cwd,
    recipients: options.recipients ?? null,
    pipedList: options.pipedList ?? null,
    listFolders: Array.isArray(folders) ? folders : [],
    withSample: options.withSample === true,
    sharedPartials:
      shared === undefined || project.yaml === null
        ? null
        : { path: shared, where: whereValue(project.yaml, '/partials') },
  });
  const own: InputFile = {
    role: 'campaign',
    file: fromRoot(root, found.path),
    sha256: hash('sha256', read.bytes, 'hex'),
  };
  const lists = findSuppressions({ written: checked.value, yaml: checked.yaml, folder }, project, options.cwd);
  const siblings = options.siblings ?? found.siblings ?? campaignNames(place, found.path);
  const { campaign, diagnostics } = await normalizeCampaign({
    merged,
    sources,
    siblings: siblings.filter((one) => one.file !== found.path),
    suppressions: lists.files,
    unreachable: lists.unreachable,
    project: project.project,
    file,
    inputs: [own, ...project.inputs],
    listIsPassed: options.recipients !== undefined,
    isExcused: (pointer) => checked.reported.has(pointer),
  });
  const twin = twinOf(found, checked.value, yaml, siblings, options.cwd);
  const circle = campaign?.after == null ? [] : circleOf(campaign.name, campaign.after, siblings);
  const { topic = '' } = merged.file;
  // Only the exact word lets a message through to people who have opted out.
  const hint = 'Did you mean "essential"? That goes out whatever a person replied.';
  const message = `The topic is "${topic}": people can opt out of it.`;
  const slip = isSlipOf(topic, 'essential')
    ? [warning('invalid-value', message, { ...merged.where('/topic'), hint })]
    : [];
  const all = [
    ...(Array.isArray(folders)
      ? []
      : [problem('usage', `HANDBILL_LISTS names "${folders.relative}", which is not an absolute path.`, WHOLE_PATHS)]),
    ...slip,
    ...circle,
    ...checked.diagnostics,
    ...project.diagnostics,
    ...sources.diagnostics,
    ...lists.diagnostics,
    ...diagnostics,
    ...(twin === null ? [] : [twin]),
  ];
  const missing = sources.list?.missing;
  const isForPlan = options.withoutList === true && campaign !== null && all.every((d) => d.severity !== 'error');
  if (missing !== undefined && !isForPlan) all.push(missing);
  return { campaign, ledgerFault: project.ledgerFault, diagnostics: all };
}

const WHOLE_PATHS = { hint: 'Write whole paths: HANDBILL_LISTS=/var/exports' };

/** Campaigns that follow each other in a circle would never end. */
function circleOf(own: string, after: FollowUp, siblings: readonly NamedCampaign[]) {
  const chain = [own];
  for (let next: string | null = after.campaign; next !== null; next = followedIn(next, siblings)) {
    if (next !== own && chain.includes(next)) return [];
    chain.push(next);
    if (next !== own) continue;
    const message = `The campaigns follow each other in a circle: ${chain.join(' after ')}.`;
    return [problem('invalid-value', message, { ...after.place, hint: 'Take `after` out of the first one.' })];
  }
  return [];
}

function followedIn(name: string, siblings: readonly NamedCampaign[]): string | null {
  const file = siblings.find((one) => one.name === name)?.file;
  const read = file === undefined ? null : readSmallFile(file, MAX_YAML_BYTES);
  if (file === undefined || read === null || 'fault' in read) return null;
  const after = valueAt(readYaml(read.bytes, file).yaml?.value, '/after/campaign');
  return typeof after === 'string' ? after : null;
}

/** Two files with one id would be one campaign to the ledger; two with one name, to people. */
function twinOf(
  found: FoundCampaign,
  { name, id = name }: { readonly name?: string; readonly id?: string },
  yaml: YamlFile,
  all: readonly NamedCampaign[],
  cwd: string,
): Diagnostic | null {
  if (name === undefined || id === undefined) return null;
  const names = [name, id];
  const other = all.find((one) => one.file !== found.path && (names.includes(one.name) || names.includes(one.id)));
  if (other === undefined) return null;
  const same = name === other.name || name === other.id ? name : id;
  const [own, its] = [name, other.name].map((one) => (one === same ? 'name' : 'id'));
  const message = `The ${own} "${same}" is the ${its} of ${displayPath(other.file, cwd)} as well.`;
  const hint = 'Give one of the two another: the ledger knows a campaign by its `id`, which is its name by default.';
  const where = whereValue(yaml, id === name ? '/name' : '/id');
  return problem('duplicate-campaign-name', message, { ...where, hint });
}

export type Projects = (file: string) => Pick<ReadOptions, 'place' | 'siblings' | 'projects'>;

export function projectsFrom(cwd: string): Projects {
  const here = ifClear(() => findProject(cwd));
  const siblings = new Map<string, readonly NamedCampaign[]>();
  const projects = new Map<string, ProjectReading>();
  return (named) => {
    const path = realPath(named);
    const there = (): ProjectPlace | null => (path === null ? null : ifClear(() => projectOf(cwd, { path, named })));
    const place = here?.isMarked === true ? here : there();
    if (place === null) return {};
    // Without a handbill.yaml, each file has different siblings.
    if (place.file === null) return { place, projects };
    const known = siblings.get(place.root) ?? campaignNames(place, null);
    siblings.set(place.root, known);
    return { place, siblings: known, projects };
  };
}
