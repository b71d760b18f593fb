import { resolve } from 'node:path';
import type { Campaign, InputFile, ListSpec, Project } from '../model.ts';
import { hashList, type ListDigest, ONLY_CELLS } from '../recipients/read.ts';
import { displayPath } from '../util/paths.ts';

export interface ListPlace {
  /** As its file is now; null where it cannot be read. */
  readonly campaign: Campaign | null;
  readonly project: Pick<Project, 'root'>;
  readonly cwd: string;
  /** The path of a copy of the list; null: where it was. */
  readonly given: string | null;
}

/**
 * The list of a run, where it still is byte for byte what was sent to; else the one that is another list by now, or the
 * error why there is none.
 */
export async function listOfRun(
  input: InputFile,
  place: ListPlace,
): Promise<
  | { readonly spec: ListSpec; readonly digest: ListDigest }
  | { readonly changed: ListSpec | null; readonly missing: unknown }
> {
  let changed: ListSpec | null = null;
  let missing: unknown = null;
  for (const spec of candidates(input, place)) {
    try {
      const digest = await hashList(spec);
      if (digest.sha256 === input.sha256) return { spec, digest };
      if (spec.sampled === undefined) changed ??= spec;
    } catch (error) {
      missing ??= error;
    }
  }
  return { changed, missing };
}

/** Paths were relative to the folder of that time. The encoding is that of the run: the campaign may have changed. */
export function candidates(input: InputFile, { campaign, project, cwd, given }: ListPlace): readonly ListSpec[] {
  const own = campaign === null ? null : { ...campaign.recipients, ...input.reading };
  const { headerRow, delimiter, encoding, escaped } = input.reading ?? own ?? ONLY_CELLS;
  const at = (path: string): ListSpec => {
    return { ...ONLY_CELLS, headerRow, delimiter, encoding, escaped, path, file: displayPath(path, cwd) };
  };
  if (given !== null) return [at(resolve(cwd, given))];
  const paths = new Set([resolve(cwd, input.file), resolve(project.root, input.file)]);
  if (own !== null) paths.delete(own.path);
  return [...(own === null ? [] : [own]), ...[...paths].map(at)];
}
