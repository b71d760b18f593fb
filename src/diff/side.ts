import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { findCampaign } from '../campaign/find.ts';
import { peekCampaign } from '../campaign/names.ts';
import { PROJECT_FILE, type ProjectPlace } from '../campaign/place.ts';
import { fromRoot } from '../campaign/project.ts';
import { yamlFilesBelow } from '../campaign/walk.ts';
import { MAX_YAML_BYTES, readYaml } from '../campaign/yaml.ts';
import type { Diagnostic } from '../errors.ts';
import { valueAt } from '../util/json.ts';
import { isInside, readSmallFile } from '../util/paths.ts';

/** The files of one side of the comparison. */
export interface Side {
  /** Real path of the project's root, or of the folder that stands for it. */
  readonly root: string;
  /** The folder in which the command was given, on this side. */
  readonly cwd: string;
  /** The project, as the files of this side say it. */
  readonly place: ProjectPlace;
}

/** A campaign file of a side. */
export interface CampaignFile {
  /** Real path. */
  readonly path: string;
  /** From the root, with `/`: the same on both sides. */
  readonly place: string;
  /** Null where the file is too broken to tell. */
  readonly name: string | null;
}

/** A campaign file with the side that it is on. */
export interface Placed {
  readonly side: Side;
  readonly file: CampaignFile;
}

/** What of a list is there: the file, only what stands for it in a clone without Git LFS, or nothing. */
export type ListState = 'here' | 'lfs-pointer' | 'absent';

/** The campaign files of a side: with handbill.yaml, all below it, else those of `campaigns/` and of the current folder. */
export async function campaignFiles(side: Side): Promise<CampaignFile[]> {
  const { place } = side;
  const folders = place.file !== null ? [place.root] : [join(side.root, 'campaigns'), side.cwd];
  const paths = new Set((await Promise.all(folders.map(yamlFilesBelow))).flat());
  const found: CampaignFile[] = [];
  for (const path of [...paths].sort()) {
    if (basename(path) === PROJECT_FILE || !(await isFile(path))) continue;
    const name = await peekCampaign(path);
    if (name === null && basename(path) !== 'campaign.yaml') continue;
    found.push({ path, place: fromRoot(side.root, path), name });
  }
  return found;
}

/** The campaign that was named on the command line; what is wrong with the name where this side has none. */
export async function namedCampaign(
  side: Side,
  target: string,
): Promise<CampaignFile | { readonly problem: Diagnostic }> {
  const found = await findCampaign(target, side.cwd, side.place);
  if ('problem' in found) return found;
  // A link may lead anywhere: what lies outside has no other side.
  const path = await realpath(found.path);
  const place = isInside(side.root, path) ? fromRoot(side.root, path) : basename(path);
  return { path, place, name: await peekCampaign(path) };
}

/** Every project file below the root of a side, by its path from there: its bytes, null where they cannot be read. */
export async function projectFiles({ root }: Side): Promise<ReadonlyMap<string, Uint8Array | null>> {
  const files = new Map<string, Uint8Array | null>();
  for (const path of await yamlFilesBelow(root)) {
    if (basename(path) !== PROJECT_FILE) continue;
    const read = await readSmallFile(path, MAX_YAML_BYTES);
    files.set(fromRoot(root, path), 'bytes' in read ? read.bytes : null);
  }
  return files;
}

/** Where the list of a campaign is to be found on a side; null where the campaign lists its recipients itself. */
export async function listOf(side: Side, file: CampaignFile): Promise<string | null> {
  const read = await readSmallFile(file.path, MAX_YAML_BYTES);
  const yaml = 'fault' in read ? null : readYaml(read.bytes, file.place).yaml;
  const written = valueAt(yaml?.value, '/recipients/csv') ?? valueAt(yaml?.value, '/recipients');
  if (typeof written !== 'string' || written === '' || written.includes('\0')) return null;
  const path = resolve(dirname(file.path), written);
  return isInside(side.root, path) ? path : null;
}

/** Whether a list is there; it is not parsed. */
export async function listState(path: string): Promise<ListState> {
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

/** The first line of what Git LFS leaves in the place of a file. */
const LFS = 'version https://git-lfs.github.com/spec/v';

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
