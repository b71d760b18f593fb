import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { type Diagnostic, HandbillError, problem, refuse } from '../errors.ts';
import { ALLOWABLE, type Allowable } from '../model.ts';
import { repositoryOf } from '../util/git.ts';
import {
  ELSEWHERE_MARKER,
  holdsPassword,
  isPostgres,
  markerOf,
  placeOfLedger,
  readLedgerName,
  SHARED_MARKER,
} from '../util/ledger-address.ts';
import { displayPath, exists, foldersUp, isInside, placeInside, realPlace } from '../util/paths.ts';
import { grants } from '../util/platform.ts';
import { listWithAnd } from '../util/words.ts';
import { DEFAULTS } from './defaults.ts';

/**
 * One rule for all commands decides which project and which ledger (docs/project.md explains it to users). Two commands
 * that decide differently would send to the same people twice, or to people who opted out.
 */

export const PROJECT_FILE = 'handbill.yaml';

export interface ProjectPlace {
  /** Real path. */
  readonly root: string;
  /** Real path of handbill.yaml, null without one. */
  readonly file: string | null;
  /** A handbill.yaml, a git repository or a ledger marks the root; else it is the current folder. */
  readonly isMarked: boolean;
}

/**
 * Finds the project of a folder: the outermost handbill.yaml from this folder up to the root of the git repository; if
 * there is none, the only one below that root; else the root itself. Outside git, folders above count as long as they
 * belong to this user: the outermost handbill.yaml, else the nearest folder with a ledger, else this folder.
 * @throws HandbillError exit 2 (`other-project`): several projects are below the root of the repository
 */
export function findProject(folder: string): ProjectPlace {
  const here = realpathSync.native(folder);
  const { folders, repository } = treeAbove(here);
  const outermost = folders.findLast((one) => exists(join(one, PROJECT_FILE)));
  if (outermost !== undefined) return projectAt(outermost);
  if (repository === null) {
    const withLedger = folders.find((one) => isLedger(join(one, DEFAULTS.ledger))) ?? null;
    return { root: withLedger ?? here, file: null, isMarked: withLedger !== null };
  }
  const below = foldersBelow(repository, (one) => exists(join(one, PROJECT_FILE)));
  const [only, another] = below;
  if (only === undefined) return { root: repository, file: null, isMarked: true };
  if (another === undefined) return projectAt(only);
  const names = listWithAnd(below.map((one) => displayPath(one, here)));
  const message = `handbill cannot tell which project you mean: this repository has ${below.length} (${names}).`;
  throw refuse(problem('other-project', message, { hint: 'Go to the folder of one of them.' }));
}

function projectAt(root: string): ProjectPlace {
  return { root, file: join(root, PROJECT_FILE), isMarked: true };
}

/**
 * The project of a command on a campaign: that of the current folder. Only where that folder is in no project (cron,
 * with an absolute path), the same rule starts at the folder of the campaign.
 * @throws HandbillError exit 2 (`other-project`), as `findProject`
 */
export function projectOf(cwd: string, campaign: CampaignPath): ProjectPlace {
  const here = ifClear(() => findProject(cwd));
  if (here?.isMarked === true) return here;
  // Cron starts in the root of the file system, which is no project.
  const isHere = here !== null && dirname(here.root) !== here.root && isInside(here.root, resolve(campaign.named));
  if (isHere && !isInside(here.root, campaign.path)) return here;
  const there = findProject(dirname(campaign.path));
  return isHere && !there.isMarked ? here : there;
}

/** Null if there are several projects: reading the campaign reports the fault. */
export function ifClear(find: () => ProjectPlace): ProjectPlace | null {
  try {
    return find();
  } catch (error) {
    if (error instanceof HandbillError) return null;
    throw error;
  }
}

/** The real path of a campaign file, and the path by which it was found. */
export interface CampaignPath {
  readonly path: string;
  readonly named: string;
}

/**
 * Why a campaign does not belong to the command's project: it is outside, perhaps behind a link, or another
 * handbill.yaml is between. That file would decide where the key goes, who must approve, and which ledger counts.
 */
export function otherProject({ root, file }: ProjectPlace, campaign: CampaignPath, cwd: string): Diagnostic | null {
  const at = { file: displayPath(campaign.named, cwd) };
  const project = displayPath(file ?? root, cwd);
  if (!isInside(root, campaign.path)) {
    const isLink = isInside(root, resolve(campaign.named));
    const message = `The campaign is outside of the project of this command (${project})${isLink ? ', behind a link' : ''}.`;
    const hint = isLink ? 'Move it into the project.' : 'Go to the folder of its project, or move it into this one.';
    return problem('other-project', message, { at, hint });
  }
  for (let folder = dirname(campaign.path); folder !== root; folder = dirname(folder)) {
    const nearer = join(folder, PROJECT_FILE);
    if (!exists(nearer)) continue;
    const message = `The campaign has its own project file, ${displayPath(nearer, cwd)}, inside the project of this command (${project}).`;
    const hint = `A project has one ${PROJECT_FILE}: remove the inner one, or take its settings into the outer one.`;
    return problem('other-project', message, { at, hint });
  }
  return null;
}

/** Folders with a handbill.yaml above a folder, as far as a project extends, and a few levels below. */
export function projectsAround(folder: string): { above: readonly string[]; below: readonly string[] } {
  const base = foldersUp(folder).find(exists) ?? folder;
  const { folders } = treeAbove(base);
  const isOne = (one: string): boolean => exists(join(one, PROJECT_FILE));
  const above = (base === folder ? folders.slice(1) : folders).filter(isOne);
  const below = foldersBelow(folder, isOne);
  return { above, below };
}

/**
 * The folders that may decide about a folder, nearest first: up to the root of its repository. Outside git, up to the
 * first one that other users own or may write to, such as `/tmp`: a handbill.yaml there decides where a key goes.
 */
function treeAbove(here: string): { folders: readonly string[]; repository: string | null } {
  const above = foldersUp(here);
  const own = statSync(here);
  const mine: string[] = [];
  for (const folder of above) {
    if (folder !== here && !isTrusted(statSync(folder), own.uid)) break;
    mine.push(folder);
  }
  const found = repositoryOf(here);
  const repository = found !== null && !isOpenToAll(statSync(found)) ? found : mine.find((one) => one === found);
  if (repository === undefined) return { folders: mine, repository: null };
  return { folders: above.slice(0, above.indexOf(repository) + 1), repository };
}

/** The rule of ssh for the folders above a key. */
function isTrusted(facts: Stats, uid: number): boolean {
  const user = process.geteuid?.();
  if (user === undefined) return true;
  return [user, uid, 0].includes(facts.uid) && !isOpenToAll(facts);
}

function isOpenToAll({ mode }: Stats): boolean {
  return grants(mode, 0o002);
}

/** `option` is `--ledger` or HANDBILL_LEDGER, and comes before handbill.yaml. */
interface LedgerNames {
  readonly option: string | null;
  readonly written: string | undefined;
}

/**
 * The real path of a ledger file, relative to the root, or the address of a shared one. Keeps a link in the last part.
 * @returns with a fault, also the ledger without the faulty name
 */
export function findLedger(
  root: string,
  { option, written }: LedgerNames,
): { readonly ledger: string; readonly fault: Pick<Diagnostic, 'code' | 'message' | 'hint'> | null } {
  const fallback = join(root, DEFAULTS.ledger);
  const name = readLedgerName(option ?? written ?? DEFAULTS.ledger);
  if (name.kind === 'refused') {
    const { message, hint } = name;
    return { ledger: fallback, fault: { code: 'invalid-value', message, hint } };
  }
  if (name.kind === 'shared') {
    if (option !== null || !holdsPassword(name.address)) return { ledger: name.address, fault: null };
    const message = 'The address of the ledger holds a password, which every reader of the repository can see.';
    const hint = 'Leave it out: it comes from PGPASSWORD, ~/.pgpass or HANDBILL_LEDGER.';
    return { ledger: fallback, fault: { code: 'literal-key', message, hint } };
  }
  if (option !== null) return { ledger: realPlace(resolve(root, name.path)), fault: null };
  const place = placeInside(root, root, name.path);
  if ('path' in place) return { ledger: place.path, fault: null };
  const hint = 'A ledger outside the project is named with --ledger or HANDBILL_LEDGER.';
  return { ledger: fallback, fault: { ...place.fault, hint } };
}

export interface LedgerUse {
  readonly cwd: string;
  readonly names: LedgerNames;
  /** The command sends; false: it only reads the ledger, or changes it otherwise. */
  readonly sends: boolean;
  readonly allow: readonly Allowable[];
}

/** Why the ledger must not be used: it would be a second one, without the recipients of the first. */
export function secondLedger(root: string, ledger: string, use: LedgerUse): Diagnostic | null {
  if (isPostgres(ledger)) return null;
  const { cwd, names, sends, allow } = use;
  const allowed = ALLOWABLE['second-ledger'];
  if (allow.includes('second-ledger')) return null;
  const isThere = isLedger(ledger);
  const isNamed = names.option !== null;
  const beside = entriesOf(dirname(join(root, DEFAULTS.ledger)));
  if (beside.some(({ name }) => SHARED_MARKER.test(name)) && !(isNamed && isThere && !sends)) {
    const message = `This project sends with a shared ledger. ${placeOfLedger(ledger, cwd)} does not know its recipients.`;
    const hint = `Name the shared ledger with HANDBILL_LEDGER or --ledger. Only if it is given up for good: ${allowed}`;
    return problem('second-ledger', message, { hint });
  }
  if (isThere) return null;
  const seen = isNamed ? asSeenFrom(cwd, root, names.option) : null;
  const own = (isNamed ? ownLedger(root, names.written, ledger) : null) ?? lastSentWith(root);
  const other = seen ?? own ?? (isNamed ? null : otherLedger(root, ledger));
  if (other === null) return null;
  const [mine, theirs] = [placeOfLedger(ledger, cwd), placeOfLedger(other, cwd)];
  const fromRoot = (path: string): string => relative(root, path).split(sep).join('/');
  if (other === seen || other === own) {
    const taken = seen === null ? '' : ` A relative path is taken from the project (${displayPath(root, cwd)}).`;
    const message = `There is no ledger at ${mine}, but ${seen === null ? 'this project has' : 'there is'} one at ${theirs}.${taken}`;
    const hint = `Write --ledger ${fromRoot(other)}. Only if you want a second ledger: ${allowed}`;
    return problem('second-ledger', message, { hint });
  }
  const message = `This would begin a second ledger, ${mine}, although there is one at ${theirs}. Neither would know the recipients of the other.`;
  const hint = `Move the folder ${displayPath(dirname(other), cwd)} to ${displayPath(dirname(ledger), cwd)}, or name its ledger with --ledger ${fromRoot(other)}. If it belongs to something else: --ledger ${ledger}, or ${allowed}`;
  return problem('second-ledger', message, { hint });
}

/** The ledger of a relative name, seen from the current folder. */
function asSeenFrom(cwd: string, root: string, option: string | null): string | null {
  const name = option === null ? null : readLedgerName(option);
  if (name?.kind !== 'file' || isAbsolute(name.path) || cwd === root) return null;
  const path = realPlace(resolve(cwd, name.path));
  return isLedger(path) ? path : null;
}

/** The project's default ledger, if it exists and is another one. Any word may be a name: `true`, `host/database`. */
export function ownLedger(root: string, written: string | undefined, but: string): string | null {
  const { ledger } = findLedger(root, { option: null, written });
  const isOne = (path: string): boolean => path !== but && !isPostgres(path) && isLedger(path);
  return [ledger, join(root, DEFAULTS.ledger)].find(isOne) ?? null;
}

/** The ledger elsewhere that this project has sent with, if it is still there. */
function lastSentWith(root: string): string | null {
  try {
    const path = readFileSync(join(dirname(join(root, DEFAULTS.ledger)), ELSEWHERE_MARKER), 'utf8');
    return isLedger(path) ? path : null;
  } catch {
    return null;
  }
}

function otherLedger(root: string, ledger: string): string | null {
  const { folders } = treeAbove(root);
  const hasLedger = (folder: string): boolean =>
    join(folder, DEFAULTS.ledger) !== ledger && isLedger(join(folder, DEFAULTS.ledger));
  const found = folders.find(hasLedger) ?? foldersBelow(root, hasLedger)[0] ?? null;
  return found === null ? null : join(found, DEFAULTS.ledger);
}

/** A file, or the marker of a deleted one. */
function isLedger(path: string): boolean {
  return exists(path) || exists(markerOf(path));
}

const MAX_DEPTH = 3;
/** Bounds a search that leaves the project. */
const MAX_FOLDERS = 2000;

/** The outermost matches, at most three levels down, outside node_modules, hidden folders, links and repositories. */
function foldersBelow(root: string, isOne: (folder: string) => boolean): readonly string[] {
  const found: string[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth < MAX_DEPTH && seen < MAX_FOLDERS; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      if (seen >= MAX_FOLDERS) break;
      for (const entry of entriesOf(folder)) {
        if (!entry.isDirectory() || entry.name.startsWith('.') || entry.name === 'node_modules') continue;
        seen += 1;
        const inner = join(folder, entry.name);
        if (exists(join(inner, '.git'))) continue;
        if (isOne(inner)) found.push(inner);
        else next.push(inner);
      }
    }
    level = next;
  }
  return found;
}

/** More than any repository has; bounds a walk that leaves the project. */
const MAX_WALKED_FOLDERS = 5000;

/** Every YAML file below a folder, without node_modules, hidden folders and links to folders. */
export function yamlFilesBelow(folder: string): readonly string[] {
  const files: string[] = [];
  const open = [folder];
  for (let count = 0; count < MAX_WALKED_FOLDERS; count += 1) {
    const next = open.pop();
    if (next === undefined) break;
    for (const entry of entriesOf(next)) {
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') open.push(join(next, entry.name));
      } else if (/\.ya?ml$/.test(entry.name) && !entry.name.startsWith('.')) files.push(join(next, entry.name));
    }
  }
  return files;
}

/** Sorted by name; empty where the folder cannot be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** Null: nothing exists. Anything that is no folder counts as a file; opening it reports its faults. */
export function kindOf(path: string): 'file' | 'folder' | null {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return exists(path) ? 'file' : null;
  }
}
