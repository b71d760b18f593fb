import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PROJECT_FILE } from '../campaign/place.ts';
import { HandbillError } from '../errors.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Project } from '../model.ts';
import { compileDisplay } from '../plan/display.ts';
import { openList } from '../recipients/read.ts';
import { fileStamp } from '../util/files.ts';
import { fold, holdsWords } from '../util/fold.ts';
import { createYields } from '../util/long-work.ts';
import { sentCampaign } from './report.ts';
import { candidates, type ListPlace, listOfRun } from './run-list.ts';

/** The people of a run as its list has them: only while that is byte for byte what was sent to. */
export interface RunPeople {
  readonly columns: readonly string[];
  /** Null: the list cannot be read in this row. */
  of(row: number): { readonly label: string | null; readonly cells: readonly string[] } | null;
  /** The rows, ascending, whose cells hold every word of the text. Case and accents do not count. */
  find(text: string): Promise<readonly number[]>;
}

/** Why nothing is known beyond what the ledger has; `soon`: the list is being read. */
export type NoPeople = { readonly why: 'changed' | 'long' | 'purged' | 'soon' };

export type PeopleOf = (run: RunRecord, patienceMs: number) => Promise<RunPeople | NoPeople>;

interface Kept {
  readonly paths: readonly string[];
  readonly stamp: string;
  readonly made: Promise<RunPeople | NoPeople>;
}

/** Limit of lists that stay read: those that were used last. */
const KEPT = 50;
export const LARGEST_LIST_BYTES = 64 << 20;

/** Each list is read once, and again after its file, or that of the campaign, has changed. */
export function createPeopleOf(
  project: Project,
  context: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): PeopleOf {
  const kept = new Map<string, Kept>();
  const begin = async (run: RunRecord): Promise<Kept> => {
    const { now: campaign } = await sentCampaign(run, project, context);
    const place = { campaign, project, cwd: context.cwd, given: null };
    const [list, written] = ['recipients', 'campaign'].map((role) => run.inputs.find((one) => one.role === role));
    const lists = list === undefined ? [] : candidates(list, place).map(({ path }) => path);
    const files = [project.file === null ? null : PROJECT_FILE, written?.file];
    const paths = files.flatMap((file) => (file == null ? [] : [join(project.root, file)]));
    const stamp = await fileStamp([...paths, ...lists]);
    return { paths: [...paths, ...lists], stamp, made: readPeople(run, place, lists) };
  };
  const peopleOf = async (run: RunRecord): Promise<RunPeople | NoPeople> => {
    const key = JSON.stringify(run.inputs.filter(({ role }) => role === 'recipients' || role === 'campaign'));
    let known = kept.get(key);
    if (known === undefined || (await fileStamp(known.paths)) !== known.stamp) known = await begin(run);
    kept.delete(key);
    kept.set(key, known);
    const oldest = kept.keys().next().value;
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    return await known.made;
  };
  return async (run, patienceMs) => {
    if (run.purgedAtMs !== null) return { why: 'purged' };
    const soon = new Promise<NoPeople>((resolve) => setTimeout(resolve, patienceMs, { why: 'soon' }).unref());
    return await Promise.race([peopleOf(run), soon]);
  };
}

async function readPeople(run: RunRecord, place: ListPlace, paths: readonly string[]): Promise<RunPeople | NoPeople> {
  const input = run.inputs.find(({ role }) => role === 'recipients');
  if (input === undefined) return { why: 'changed' };
  const sizes = paths.map((path) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  if (Math.max(0, ...(await Promise.all(sizes))) > LARGEST_LIST_BYTES) return { why: 'long' };
  try {
    const found = await listOfRun(input, place);
    if (!('digest' in found)) return { why: 'changed' };
    const list = await openList(found.spec, { expected: found.digest, pieceBytes: PIECE_BYTES });
    const plain = { recipients: { display: null }, partials: new Map(), locale: 'en', timeZone: 'UTC' };
    const { display } = compileDisplay(place.campaign ?? plain, list.columns);
    return await keepRows(list, display?.labelOf ?? (() => null));
  } catch (error) {
    if (error instanceof HandbillError) return { why: 'changed' };
    throw error;
  }
}

/** Fewer and larger batches than for a send: nothing is rendered between them. */
const PIECE_BYTES = 64 * 1024;
/** Rows that are searched as one text, with a character between them that no cell keeps. */
const BLOCK_ROWS = 512;
const ROW_END = '\u001e';

/** In a temporary database, which SQLite removes: memory does not grow with the list. */
async function keepRows(
  list: Awaited<ReturnType<typeof openList>>,
  label: (cells: readonly string[]) => string | null,
): Promise<RunPeople> {
  const rows = new DatabaseSync('');
  rows.exec('CREATE TABLE people (row INTEGER PRIMARY KEY, label TEXT, cells TEXT) STRICT');
  rows.exec('CREATE TABLE blocks (row INTEGER PRIMARY KEY, folded TEXT) STRICT; BEGIN');
  const add = rows.prepare('INSERT INTO people VALUES (?, ?, ?)');
  const addBlock = rows.prepare('INSERT INTO blocks VALUES (?, ?)');
  const turn = createYields();
  let block: string[] = [];
  let first = 0;
  const endBlock = (): void => {
    addBlock.run(first, fold(block.join(ROW_END)));
    first += block.length;
    block = [];
  };
  try {
    for await (const batch of list.rows()) {
      for (const { row, values } of batch) {
        if (values !== null) add.run(row, label(values), JSON.stringify(values));
        block.push((values ?? []).join('\n').replaceAll(ROW_END, ' '));
        if (block.length === BLOCK_ROWS) endBlock();
      }
      await turn();
    }
  } finally {
    await list.close();
  }
  endBlock();
  rows.exec('COMMIT');
  const one = rows.prepare('SELECT label, cells FROM people WHERE row = ?');
  const next = rows.prepare('SELECT folded FROM blocks WHERE row = ?');
  return {
    columns: list.columns,
    of(row) {
      const found = one.get(row);
      if (found === undefined) return null;
      return { label: found['label'] as string | null, cells: JSON.parse(String(found['cells'])) as string[] };
    },
    async find(text) {
      const hasAll = holdsWords(text);
      const found: number[] = [];
      for (let from = 0; from < list.count(); from += BLOCK_ROWS) {
        const folded = String(next.get(from)?.['folded']);
        const each = hasAll(folded) ? folded.split(ROW_END) : [];
        for (const [i, row] of each.entries()) if (hasAll(row)) found.push(from + i);
        await turn();
      }
      return found;
    },
  };
}
