import { resolve } from 'node:path';
import { problem, refuse } from '../../errors.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { Campaign, InputFile, ListSpec, Outcome, Project, Row } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { hashList, type ListDigest, ONLY_CELLS, openList } from '../../recipients/read.ts';
import type { ListColumns } from '../../report/record.ts';
import { safeLine } from '../../util/escape.ts';
import { displayPath } from '../../util/paths.ts';

/** Where to look for the list of a run. */
interface ListPlace {
  readonly campaign: Campaign | null;
  readonly project: Pick<Project, 'root'>;
  readonly cwd: CommandContext['cwd'];
  /** The path that the user gave. */
  readonly given: string | null;
}

/** The list of a run, open; `close` when nothing more is asked of it. */
interface OpenColumns extends ListColumns {
  close(): Promise<void>;
}

/**
 * Opens the list of a run for its columns. Its rows are known by their place, so that its bytes must be those that were
 * sent to.
 *
 * @throws HandbillError (exit status 2): the list is not there, or is another one now
 */
export async function openColumns(run: RunRecord, place: ListPlace): Promise<OpenColumns> {
  const input = run.inputs.find(({ role }) => role === 'recipients');
  if (input === undefined) throw refuse(problem('file-not-found', `No list is known of the run ${run.id}.`));
  let changed: string | null = null;
  let missing: unknown = null;
  for (const spec of candidates(input, place)) {
    try {
      const digest = await hashList(spec);
      if (digest.sha256 === input.sha256) return await columnsOf(spec, digest);
      changed ??= spec.file;
    } catch (error) {
      missing ??= error;
    }
  }
  throw changed === null ? missing : listChanged(run, changed);
}

/**
 * The run has its path relative to the folder of that time: it is one of these, or the list is not found. The encoding
 * of its bytes belongs to the run, because the campaign may have been edited since.
 */
function candidates(input: InputFile, { campaign, project, cwd, given }: ListPlace): readonly ListSpec[] {
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

async function columnsOf(spec: ListSpec, expected: ListDigest): Promise<OpenColumns> {
  const list = await openList(spec, { expected });
  const batches = list.rows();
  let rows: readonly Row[] = [];
  let at = 0;
  const rowAt = async (wanted: number): Promise<Row | null> => {
    for (;;) {
      const row = rows[at];
      if (row !== undefined && row.row >= wanted) return row.row === wanted ? row : null;
      if (row !== undefined) at++;
      else {
        const batch = await batches.next();
        if (batch.done === true) return null;
        rows = batch.value;
        at = 0;
      }
    }
  };
  return {
    names: list.columns,
    delimiter: spec.delimiter ?? ',',
    needsMark: spec.encoding !== null && spec.encoding !== 'utf-8',
    async valuesOf(outcomes: readonly Outcome[]) {
      const found: (readonly string[] | null)[] = [];
      for (const { row } of outcomes) found.push((await rowAt(row))?.values ?? null);
      return found;
    },
    close: () => list.close(),
  };
}

function listChanged({ id }: RunRecord, file: string): Error {
  const message = `The list ${safeLine(file)} is not the one that ${id} was sent to: it has changed since.`;
  const hint =
    'Rows are known by their place in it. Bring back the list as it was, for example out of git, and name it with --recipients.';
  return refuse(problem('input-changed', message, { at: { file }, hint }));
}
