import { fromRoot } from '../campaign/project.ts';
import { type ListState, listOf, listState, type Placed } from './side.ts';

export interface ListOptions {
  /** A list that both sides are read with; relative to the current folder of the command, made absolute. */
  readonly recipients: string | null;
  /** An empty file, for a campaign whose list is nowhere. */
  readonly emptyList: string;
  /** How the sides are called in sentences. */
  readonly names: readonly [before: string, after: string];
}

/** Which list each side is read with, and what that means for the comparison. */
export interface ChosenLists {
  readonly before: ChosenList;
  readonly after: ChosenList;
  /** Each side has a list of its own. */
  readonly areComparable: boolean;
  readonly notes: readonly string[];
}

export interface ChosenList {
  /** In place of the campaign's own; null: its own. */
  readonly path: string | null;
  readonly isHere: boolean;
}

const OWN: ChosenList = { path: null, isHere: true };

/**
 * Chooses the lists. One that is not in git on one side - because it must not be, or because it lies in Git LFS - is
 * taken from the other side: texts, parts and cost of the same people can still be compared, only not who they are.
 */
export async function chooseLists(
  before: Placed | null,
  after: Placed | null,
  { recipients, emptyList, names }: ListOptions,
): Promise<ChosenLists> {
  if (recipients !== null) {
    const given = { path: recipients, isHere: true };
    const notes = ['Both sides are read with the list that was passed, so that recipients are not compared.'];
    return { before: given, after: given, areComparable: false, notes };
  }
  const [old, now] = [await lookAt(before), await lookAt(after)];
  const chosen = (own: Found, other: Found): ChosenList => {
    if (own.state === 'here') return OWN;
    if (other.state === 'here' && other.path !== null) return { path: other.path, isHere: true };
    return { path: emptyList, isHere: false };
  };
  const notes: string[] = [];
  for (const [found, other, name, otherName] of [
    [old, now, names[0], names[1]],
    [now, old, names[1], names[0]],
  ] as const) {
    if (found.state === 'here') continue;
    const what = found.state === 'absent' ? 'is not there' : 'is only a pointer of Git LFS';
    const then =
      other.state === 'here' && other.path !== null
        ? `: both sides are read with that of ${otherName}, and recipients are not compared.`
        : ': recipients, parts and cost are not compared.';
    notes.push(`The list ${found.shown} ${what} (${name})${then}${found.state === 'absent' ? '' : ` ${LFS_HINT}`}`);
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
}

async function lookAt(placed: Placed | null): Promise<Found> {
  const path = placed === null ? null : await listOf(placed.side, placed.file);
  if (placed === null || path === null) return { state: 'here', path: null, shown: '' };
  return { state: await listState(path), path, shown: fromRoot(placed.side.root, path) };
}
