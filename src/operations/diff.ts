import { mkdir, realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { findProject, ifClear, type ProjectPlace, projectOf } from '../campaign/place.ts';
import { type ProjectReading, readProject } from '../campaign/project.ts';
import { checkout } from '../diff/checkout.ts';
import { type CompareOptions, compareCampaign, isUnchanged } from '../diff/compare-campaign.ts';
import { type Range, type Revision, readRange } from '../diff/git.ts';
import type { CampaignDiff, Diff, RuleChange } from '../diff/result.ts';
import { changedRules, readRules } from '../diff/rules.ts';
import {
  bodyOf,
  type CampaignFile,
  campaignFiles,
  namedCampaign,
  type Placed,
  projectFiles,
  type Side,
} from '../diff/side.ts';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Project } from '../model.ts';
import { readPriceList } from '../plan/estimate.ts';
import { fenceNotes } from '../plan/fence.ts';
import { environmentOf } from '../plan/plan.ts';
import { makeTemporaryFolder, temporaryFault } from '../util/files.ts';
import type { GitPlace } from '../util/git.ts';
import type { Meter } from '../util/long-work.ts';
import { fromRoot, isInside } from '../util/paths.ts';
import {
  allowOption,
  checkAllow,
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';

export const DIFF = {
  environment: OPTIONS.environment,
  recipients: {
    flag: '--recipients <file>',
    says: 'read both sides with this list, where it is not in git',
    more: 'A path is relative to `cwd`.',
    without: 'those in git',
  },
  days: {
    ...OPTIONS.days,
    says: 'play the next N days on both sides too, as `handbill rehearse` does, and show how they differ',
    without: 'none are played, and no ledger is read',
  },
  allow: allowOption(['invalid-rows']),
} as const satisfies OptionTable;

/** The campaigns and the recipient list of the comparison. */
export interface DiffOptions extends ProjectOptions, OptionsOf<typeof DIFF> {
  /** A campaign file, its folder or its name. Default: every campaign of the project. */
  readonly campaign?: string;
  /** Ends the comparison; what was written for it is removed. Default: nothing does. */
  readonly signal?: AbortSignal;
  /** @internal How far the days of one side are, in hours of virtual time. */
  readonly meter?: Meter;
}

/**
 * `handbill diff`: what a change in git means - who is added and removed, whose message changes and how, what it costs,
 * which rules differ. Sends nothing, and reads a ledger only for `days`; the result holds no address in clear. Both sides are read as
 * they are in git, and no program that the repository names is run.
 *
 * @param revision - `REV` (its merge base with HEAD, against the work tree), `REV..REV2` or `REV...REV2`
 * @throws HandbillError exit 2 (`unknown-revision`, `git-unavailable`, `campaign-not-found`, `unknown-environment`), 130
 *   (`interrupted`), and with `days` 2 or 7: the ledger cannot be used
 */
export async function diff(revision: string, options: DiffOptions = {}): Promise<Diff> {
  checkAllow(options, ['invalid-rows']);
  const given = withDefaults(options, DIFF);
  const { campaign: target = null, signal = new AbortController().signal } = given;
  const cwd = await realpath(given.cwd);
  const project = await projectFor(target, cwd);
  const { root } = project;
  const place: GitPlace = { folder: root, env: given.env, signal };
  const folder = await makeTemporaryFolder('handbill-diff-');
  try {
    const range = await readRange(place, revision);
    const here = isInside(root, cwd) ? relative(root, cwd) : '';
    const workTree: Side = { root, cwd, place: project };
    const before = await sideOf(place, range.before, join(folder.root, 'before'), here);
    const after = range.after === null ? workTree : await sideOf(place, range.after, join(folder.root, 'after'), here);
    return await compare({ before, after, target, range }, { ...given, cwd, signal, workTree, folder: folder.root });
  } catch (error) {
    if (!signal.aborted || error instanceof HandbillError) throw temporaryFault(error, folder.root);
    throw new HandbillError(EXIT.interrupted, [problem('interrupted', 'The comparison was interrupted.')]);
  } finally {
    await folder.remove();
  }
}

async function projectFor(target: string | null, cwd: string): Promise<ProjectPlace> {
  if (target === null || target.includes('\0')) return findProject(cwd);
  const named = /\.ya?ml$/.test(target) ? resolve(cwd, target) : resolve(cwd, target, 'campaign.yaml');
  const path = await realpath(named).catch(() => null);
  return path === null ? findProject(cwd) : projectOf(cwd, { path, named });
}

async function sideOf(place: GitPlace, { commit }: Revision, into: string, here: string): Promise<Side> {
  await mkdir(into, { mode: 0o700 });
  await checkout(place, commit, into);
  // Paths in messages are relative to the current folder, which this side may not have had.
  const cwd = join(into, here);
  const made = await mkdir(cwd, { recursive: true, mode: 0o700 }).then(
    () => true,
    () => false,
  );
  const side = { root: into, cwd: made ? cwd : into };
  const unclear: ProjectPlace = { root: into, file: null, isMarked: true };
  // Several projects in one repository are an error only for the side that is to be sent.
  return { ...side, place: ifClear(() => findProject(side.cwd)) ?? unclear };
}

type Options = DiffOptions &
  ResolvedOptions & { readonly signal: AbortSignal; readonly workTree: Side; readonly folder: string };

async function compare(
  { before, after, target, range }: Record<'before' | 'after', Side> & { target: string | null; range: Range },
  options: Options,
): Promise<Diff> {
  const { environment = 'sandbox' } = options;
  const names = [nameOf(range.before), range.after === null ? 'work tree' : nameOf(range.after)] as const;
  const compareOptions: CompareOptions = {
    now: options.now(),
    environment,
    skipsInvalid: options.allow?.includes('invalid-rows') === true,
    signal: options.signal,
    recipients: options.recipients === undefined ? null : resolve(options.cwd, options.recipients),
    env: options.env,
    workTree: options.workTree,
    names,
  };
  const was = readProject(before.place, { cwd: before.cwd });
  const is = readProject(after.place, { cwd: after.cwd });
  // An environment that neither side knows is refused once, with help: not for each campaign.
  const isUnknown = ({ project, diagnostics }: ProjectReading): boolean =>
    !project.environments.has(environment) && !diagnostics.some(({ severity }) => severity === 'error');
  if (isUnknown(was) && isUnknown(is)) environmentOf(is, environment);
  const all: CampaignDiff[] = [];
  for (const [old, now] of await pairsOf(before, after, target)) {
    options.signal.throwIfAborted();
    all.push(await compareCampaign(old, now, compareOptions));
  }
  const { days } = options;
  const environments = new Map([...is.project.environments].filter(([name]) => name === environment));
  const play = async (count: number) => {
    const { rehearseBoth } = await import('./diff-days.ts');
    const pairs = await pairsOf(before, after, null);
    const { timeZone } = is.project;
    return await rehearseBoth(pairs, [before, after], { ...options, ...compareOptions, days: count, timeZone });
  };
  const changed = all.filter((one) => !isUnchanged(one));
  const project = [
    ...projectFileChanges(before, after),
    ...changedRules(readRules('project', before.place.file), readRules('project', after.place.file)),
    ...(await providerChanges(was, is)),
    ...priceChanges(was.project, is.project),
  ];
  return {
    version: 1,
    before: { name: range.before.name, commit: range.before.commit, mergeBase: range.before.isMergeBase },
    after: { name: range.after?.name ?? 'work tree', commit: range.after?.commit ?? null, mergeBase: false },
    environment,
    project,
    campaigns: changed.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    unchanged: all
      .filter(isUnchanged)
      .map(({ name }) => name)
      .sort(),
    notes: [
      ...(range.note === null ? [] : [range.note]),
      // The fence that keeps messages of the environment from their recipients.
      ...(await fenceNotes({ ...is.project, environments })),
      // That nothing differs is worth less where not everything was compared.
      ...all.filter(isUnchanged).flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    ],
    valid: all.every((one) => (one.after?.errors.length ?? 0) === 0),
    ...(days === undefined ? {} : { rehearsal: await play(days) }),
  };
}

function nameOf({ name, commit }: Revision): string {
  return `${name} ${commit.slice(0, 8)}`;
}

/** Without the settings of the file that counts on both sides. Such a file can change the URL, approvers or ledger. */
function projectFileChanges(before: Side, after: Side): readonly RuleChange[] {
  const [old, now] = [projectFiles(before), projectFiles(after)];
  const [main, newMain] = [before, after].map(({ root, place }) => place.file && fromRoot(root, place.file));
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((key) => {
    const [was, is] = [old.get(key), now.get(key)];
    if (main === newMain && key === main) return [];
    if (was && is && Buffer.compare(was, is) === 0 && (key === main) === (key === newMain)) return [];
    const said = (bytes: Uint8Array | null | undefined, counts: boolean): string | null =>
      bytes === undefined ? null : counts ? 'the project file' : 'a second project file, whose campaigns are refused';
    const [first, second] = [said(was, key === main), said(is, key === newMain)];
    return [{ key, before: first, after: first === second ? `${second} (changed)` : second }];
  });
}

/** The settings of provider files that environments name: they change requests, and how answers are read. */
async function providerChanges(before: ProjectReading, after: ProjectReading): Promise<readonly RuleChange[]> {
  const [old, now] = [providerFiles(before), providerFiles(after)];
  const changes = [...new Set([...old, ...now])].sort().map(async (file): Promise<readonly RuleChange[]> => {
    const said = (files: ReadonlySet<string>): string | null => (files.has(file) ? 'a provider file' : null);
    if (!old.has(file) || !now.has(file)) return [{ key: file, before: said(old), after: said(now) }];
    const [was, is] = [before, after].map(({ place }) => readRules('provider', join(place.root, file)));
    const rules = changedRules((await was) ?? null, (await is) ?? null);
    return rules.map((rule) => ({ ...rule, key: `${file} ${rule.key}` }));
  });
  return (await Promise.all(changes)).flat();
}

function providerFiles({ inputs }: ProjectReading): ReadonlySet<string> {
  return new Set(inputs.flatMap(({ role, file }) => (role === 'provider' ? [file] : [])));
}

/** A price list of the same name can have other prices. */
function priceChanges(was: Project, is: Project): readonly RuleChange[] {
  const [old, now] = [readPriceList(was), readPriceList(is)];
  if (was.prices === null || is.prices === null || isDeepStrictEqual(old.prices, now.prices)) return [];
  return [{ key: fromRoot(is.root, is.prices), before: 'the price list', after: 'the price list (changed)' }];
}

type Pair = readonly [before: Placed | null, after: Placed | null];

/** Campaigns by their names, which are their identities; then those whose file has another name now. */
async function pairsOf(before: Side, after: Side, target: string | null): Promise<readonly Pair[]> {
  const old = await campaignFiles(before);
  const now = await campaignFiles(after);
  const wanted = target === null ? null : await wantedOf(before, after, target);
  if (wanted !== null) {
    const files = wanted.side === before ? old : now;
    if (!files.some(({ path }) => path === wanted.file.path)) files.push(wanted.file);
  }
  const pairs: Pair[] = [];
  const take = (isSame: (before: CampaignFile, after: CampaignFile) => boolean): void => {
    for (const file of [...now]) {
      const twin = old.find((one) => isSame(one, file));
      if (twin === undefined) continue;
      old.splice(old.indexOf(twin), 1);
      now.splice(now.indexOf(file), 1);
      pairs.push([
        { side: before, file: twin },
        { side: after, file },
      ]);
    }
  };
  // Two files of one name, which is a separate error, are matched by their place.
  take((a, b) => a.name !== null && a.name === b.name && a.place === b.place);
  take((a, b) => a.name !== null && a.name === b.name);
  take((a, b) => a.id !== null && a.id === b.id);
  take((a, b) => a.place === b.place);
  const bodies = new Map<CampaignFile, string | null>();
  for (const file of [...old, ...now]) bodies.set(file, bodyOf(file));
  take((a, b) => bodies.get(a) !== null && bodies.get(a) === bodies.get(b));
  pairs.push(...old.map((file): Pair => [{ side: before, file }, null]));
  pairs.push(...now.map((file): Pair => [null, { side: after, file }]));
  if (wanted === null) return pairs;
  const { side, file } = wanted;
  return pairs.filter((pair) => pair.some((placed) => placed?.side === side && placed.file.path === file.path));
}

/** Looks on the new side first: an old campaign may be gone. */
async function wantedOf(before: Side, after: Side, target: string): Promise<Placed> {
  const now = await namedCampaign(after, target);
  if (!('problem' in now)) return { side: after, file: now };
  const old = await namedCampaign(before, target);
  if ('problem' in old) throw refuse(now.problem);
  return { side: before, file: old };
}
