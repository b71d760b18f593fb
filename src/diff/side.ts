import { createReadStream } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { findCampaign, peek } from '../campaign/find.ts';
import { PROJECT_FILE, type ProjectPlace, yamlFilesBelow } from '../campaign/place.ts';
import { MAX_YAML_BYTES, readYaml } from '../campaign/yaml.ts';
import type { Diagnostic } from '../errors.ts';
import { valueAt } from '../util/json.ts';
import { fromRoot, isInside, listFolders, readSmallFile } from '../util/paths.ts';
import { newFile } from './checkout.ts';

export interface Side {
  /** Real path of the project's root, or of the folder used in its place. */
  readonly root: string;
  /** The folder of the command, on this side. */
  readonly cwd: string;
  /** Found in the files of this side. */
  readonly place: ProjectPlace;
}

export interface CampaignFile {
  /** Real path. */
  readonly path: string;
  /** From the root, with `/`: the same on both sides. */
  readonly place: string;
  /** Null: the file is too broken to tell. */
  readonly name: string | null;
  readonly id: string | null;
}

export interface Placed {
  readonly side: Side;
  readonly file: CampaignFile;
}

/** `lfs-pointer`: a clone without Git LFS has only the pointer. */
type ListState = 'here' | 'lfs-pointer' | 'absent';

/** With handbill.yaml, all campaign files below it, else those of `campaigns/` and of the current folder. */
export async function campaignFiles(side: Side): Promise<CampaignFile[]> {
  const { place } = side;
  const folders = place.file !== null ? [place.root] : [join(side.root, 'campaigns'), side.cwd];
  const paths = new Set((await Promise.all(folders.map(yamlFilesBelow))).flat());
  const found: CampaignFile[] = [];
  for (const path of [...paths].sort()) {
    if (basename(path) === PROJECT_FILE || !(await isFile(path))) continue;
    const seen = peek(path);
    if (seen === null && basename(path) !== 'campaign.yaml') continue;
    const { name = null, id = null } = seen ?? {};
    found.push({ path, place: fromRoot(side.root, path), name, id });
  }
  return found;
}

/** The campaign that the command line names, or why this side has none. */
export async function namedCampaign(
  side: Side,
  target: string,
): Promise<CampaignFile | { readonly problem: Diagnostic }> {
  const found = findCampaign(target, side.cwd, side.place);
  if ('problem' in found) return found;
  // A link may lead anywhere: a file outside the root has no other side.
  const path = await realpath(found.path);
  const place = isInside(side.root, path) ? fromRoot(side.root, path) : basename(path);
  const { name = null, id = null } = peek(path) ?? {};
  return { path, place, name, id };
}

/** Content without the name: two files with equal content are one campaign that was renamed and moved. */
export function bodyOf({ path }: CampaignFile): string | null {
  const read = readSmallFile(path, MAX_YAML_BYTES);
  if ('fault' in read) return null;
  return Buffer.from(read.bytes)
    .toString('utf8')
    .replace(/^["']?name["']?[ \t]*:.*$/m, '');
}

/** Bytes of every project file, by path from the root; null: unreadable. */
export function projectFiles({ root }: Side): ReadonlyMap<string, Uint8Array | null> {
  const files = new Map<string, Uint8Array | null>();
  for (const path of yamlFilesBelow(root)) {
    if (basename(path) !== PROJECT_FILE) continue;
    const read = readSmallFile(path, MAX_YAML_BYTES);
    files.set(fromRoot(root, path), 'bytes' in read ? read.bytes : null);
  }
  return files;
}

/** Does not parse the list. */
async function listState(path: string): Promise<ListState> {
  if (!(await isFile(path))) return 'absent';
  const handle = await open(path, 'r').catch(() => null);
  if (handle === null) return 'here';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LFS.length), 0, LFS.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === LFS ? 'lfs-pointer' : 'here';
  } finally {
    await handle.close();
  }
}

const LFS = 'version https://git-lfs.github.com/spec/v';

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

type Env = Readonly<Record<string, string | undefined>>;

export interface ListOptions {
  /** One list for both sides; relative to the current folder of the command, made absolute. */
  readonly recipients: string | null;
  readonly env: Env;
  readonly names: readonly [before: string, after: string];
}

interface ChosenList {
  /** Replaces the campaign's list; null: keeps it. */
  readonly path: string | null;
  readonly isHere: boolean;
}

const OWN: ChosenList = { path: null, isHere: true };

/**
 * Chooses the lists. If one side has no list in git (by rule, or in Git LFS), takes the other side's: this still
 * compares texts, parts and cost of the same people. Where neither has it, uses the sample of the campaign, or that of
 * the other side.
 */
export async function chooseLists(
  before: Placed | null,
  after: Placed | null,
  { recipients, env, names }: ListOptions,
) {
  if (recipients !== null) {
    const given = { path: recipients, isHere: true };
    const notes = ['Both sides are read with the list that was passed, so that recipients are not compared.'];
    return { before: given, after: given, areComparable: false, notes };
  }
  const [old, now] = [await lookAt(before, env), await lookAt(after, env)];
  const chosen = (own: Found, other: Found): ChosenList => {
    if (own.state === 'here') return OWN;
    if (other.state === 'here' && other.path !== null) return { path: other.path, isHere: true };
    const sample = own.sample ?? other.sample;
    return { path: sample, isHere: sample !== null };
  };
  const hasSample = old.sample !== null || now.sample !== null;
  const notes: string[] = [];
  const isSame = old.state === now.state && old.shown === now.shown;
  for (const [found, other, name, otherName] of [
    [old, now, names[0], names[1]],
    [now, old, names[1], names[0]],
  ] as const) {
    if (found.state === 'here' || (isSame && found === now)) continue;
    const what = found.state === 'absent' ? 'is not there' : 'is only a pointer of Git LFS';
    const then =
      other.state === 'here' && other.path !== null
        ? `: both sides are read with that of ${otherName}, and recipients are not compared.`
        : hasSample
          ? ': the sample is read in its place, and recipients are not compared.'
          : ': recipients, parts and cost are not compared.';
    notes.push(
      `The list ${found.shown} ${what} (${isSame ? `${name}, ${otherName}` : name})${then}${found.state === 'absent' ? '' : ` ${LFS_HINT}`}`,
    );
  }
  return {
    before: chosen(old, now),
    after: chosen(now, old),
    areComparable: old.state === 'here' && now.state === 'here',
    notes,
  };
}

const LFS_HINT = 'Fetch it with `git lfs pull`, or `lfs: true` for actions/checkout.';

interface Found {
  /** `here` also where the campaign lists its recipients itself, or this side has no campaign. */
  readonly state: ListState;
  readonly path: string | null;
  /** From the root of the project. */
  readonly shown: string;
  readonly sample: string | null;
}

export async function lookAt(placed: Placed | null, env: Env): Promise<Found> {
  const none = { state: 'here', path: null, shown: '', sample: null } as const;
  if (placed === null) return none;
  const { side, file } = placed;
  const value = valueIn(file.path);
  const written = valueAt(value, '/recipients/csv') ?? valueAt(value, '/recipients');
  const [path] = typeof written === 'string' ? pathsIn(file.path, written) : [];
  if (path === undefined || !(await staysInside(side.root, path, env))) return none;
  const [sample] = pathsIn(file.path, valueAt(value, '/recipients/sample'));
  const isThere = sample !== undefined && (await staysInside(side.root, sample, {})) && (await isFile(sample));
  return {
    state: await listState(path),
    path,
    shown: fromRoot(side.root, path),
    sample: isThere ? sample : null,
  };
}

/** Where a link leads out, the file is not lent to the other side, which would read it as if the user had named it. */
async function staysInside(root: string, path: string, env: Env): Promise<boolean> {
  const folders = listFolders(env);
  const real = await realpath(path).catch(() => path);
  return isInside(root, path) && [root, ...('relative' in folders ? [] : folders)].some((one) => isInside(one, real));
}

/**
 * Copies suppression lists and prices, which git may not hold, from the work tree: an older side needs them.
 * @returns a sentence for each file
 */
export async function lendFiles({ side, file }: Placed, workTree: Side): Promise<readonly string[]> {
  if (side.root === workTree.root) return [];
  const campaign = valueIn(file.path);
  const project = side.place.file === null ? null : valueIn(side.place.file);
  const ofProject = ['/suppressions', '/suppressions/files', '/prices'].map((pointer) => valueAt(project, pointer));
  const needed = [
    ...pathsIn(file.path, valueAt(campaign, '/suppressions'), valueAt(campaign, '/suppressions/files')),
    ...pathsIn(side.place.file ?? '', ...ofProject),
  ];
  const notes: string[] = [];
  for (const path of new Set(needed)) {
    if (!isInside(side.root, path) || (await isFile(path))) continue;
    const own = join(workTree.root, relative(side.root, path));
    const real = await realpath(own).catch(() => null);
    if (real === null || !isInside(workTree.root, real) || !(await isFile(real))) continue;
    await using copy = await newFile(path);
    if (copy === null) continue;
    await copy.writeFile(createReadStream(real));
    notes.push(`${fromRoot(side.root, path)} is not in git: both sides are read with that of the work tree.`);
  }
  return notes;
}

function valueIn(yamlPath: string): unknown {
  const read = readSmallFile(yamlPath, MAX_YAML_BYTES);
  return 'fault' in read ? null : readYaml(read.bytes, yamlPath).yaml?.value;
}

/** The files that values of a YAML file name, as one name or as a list. */
function pathsIn(yamlPath: string, ...values: readonly unknown[]): readonly string[] {
  return values
    .flat()
    .flatMap((name) =>
      typeof name === 'string' && name !== '' && !name.includes('\0') ? [resolve(dirname(yamlPath), name)] : [],
    );
}
