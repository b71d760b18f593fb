import { DatabaseSync } from 'node:sqlite';
import { type Diagnostic, problem, refuse, warning } from '../../errors.ts';
import type { RunRecord } from '../../ledger/records.ts';
import type { ListSpec, Outcome } from '../../model.ts';
import { type ListPlace, listOfRun } from '../../operations/run-list.ts';
import { openCells } from '../../recipients/cells.ts';
import { type ListDigest, openList } from '../../recipients/read.ts';
import { createRecipientReader, isInvalidRow } from '../../recipients/recipient.ts';
import type { ListColumns } from '../../report/record.ts';
import { countOf } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';

interface OpenColumns extends ListColumns {
  /** Once all outcomes were joined: a warning where the list is another one by now. */
  warning(): Diagnostic | null;
  close(): Promise<void>;
}

/**
 * Rows are known by their place; those of a replaced list by the key of their recipient, as the campaign has it now.
 * Throws exit 2: the list is not there, or is another one and there is no campaign to read it by.
 */
export async function openColumns(run: RunRecord, place: ListPlace): Promise<OpenColumns> {
  const input = run.inputs.find(({ role }) => role === 'recipients');
  if (input === undefined) throw refuse(problem('file-not-found', `No list is known of the run ${run.id}.`));
  const found = await listOfRun(input, place);
  if ('digest' in found) return await columnsOf(found.spec, found.digest);
  const { changed, missing } = found;
  if (changed === null) throw missing;
  if (place.campaign === null) throw listChanged(run, changed.file);
  // As the campaign reads it now, for the keys of its rows, which have the times of `send.each`: other faults do not matter.
  const { recipients: own } = place.campaign;
  const { path, file, inline } = changed;
  const times = own.each === null ? { timeZone: null, columns: {} } : {};
  return await columnsByKey(run, { ...own, path, file, inline, alsoInvalid: [], ...times, where: null });
}

async function columnsOf(spec: ListSpec, expected: ListDigest): Promise<OpenColumns> {
  const list = await openCells(spec, { expected });
  return {
    ...formOf(spec, list.columns),
    async valuesOf(outcomes: readonly Outcome[]) {
      const found: (readonly string[] | null)[] = [];
      for (const { row, line } of outcomes) {
        await list.between(row, row);
        found.push(list.of(row, line));
      }
      return found;
    },
    warning: () => null,
    close: list.close,
  };
}

function formOf({ delimiter, encoding }: ListSpec, names: readonly string[]) {
  return { names, delimiter: delimiter ?? ',', needsMark: encoding !== null && encoding !== 'utf-8' };
}

/** Rows wait in a temporary database, which SQLite removes: a list may have more than fit into memory. */
async function columnsByKey(run: RunRecord, spec: ListSpec): Promise<OpenColumns> {
  const list = await openList(spec);
  const rows = new DatabaseSync('');
  const close = async (): Promise<void> => {
    rows.close();
    await list.close();
  };
  try {
    rows.exec('CREATE TABLE rows (key TEXT PRIMARY KEY, cells TEXT) WITHOUT ROWID; BEGIN');
    const add = rows.prepare('INSERT INTO rows VALUES (?, ?) ON CONFLICT DO NOTHING');
    const recipientOf = createRecipientReader(spec, list.columns);
    for await (const batch of list.rows()) {
      for (const row of batch) {
        const recipient = recipientOf(row);
        if (!isInvalidRow(recipient)) add.run(recipient.key, JSON.stringify(row.values));
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  const find = rows.prepare('SELECT cells FROM rows WHERE key = ?');
  let unmatched = 0;
  return {
    ...formOf(spec, list.columns),
    async valuesOf(outcomes) {
      const found = outcomes.map(({ key }) => (key === null ? undefined : find.get(key)?.['cells']));
      unmatched += found.filter((cells) => cells === undefined).length;
      return found.map((cells) => (cells === undefined ? null : (JSON.parse(String(cells)) as string[])));
    },
    warning: () => joinedByKey(run, spec.file, unmatched),
    close,
  };
}

function joinedByKey({ id }: RunRecord, file: string, unmatched: number): Diagnostic {
  const message = `The list ${safeLine(file)} was replaced after ${id} was sent: the columns are those of the list as it is now, joined by the key of the recipient.`;
  const none =
    unmatched === 0
      ? ''
      : ` ${countOf(unmatched, 'row')} of the run ${unmatched === 1 ? 'has' : 'have'} no match in it, and empty columns.`;
  const hint = 'For the columns as they were, name a copy of that list with --recipients.';
  return warning('input-changed', `${message}${none}`, { at: { file }, hint });
}

function listChanged({ id }: RunRecord, file: string): Error {
  const message = `The list ${safeLine(file)} is not the one that ${id} was sent to: it has changed since.`;
  const hint =
    'The campaign, which says the key of a row, cannot be read. Name a copy of the list as it was with --recipients.';
  return refuse(problem('input-changed', message, { at: { file }, hint }));
}
