import { type Diagnostic, HandbillError, problem } from '../errors.ts';
import type { AddressKind, Campaign, ListSpec, Project, SuppressionFile } from '../model.ts';
import { addressMessage, createAddressReader } from '../recipients/address.ts';
import { type ListDigest, openList } from '../recipients/read.ts';
import { findColumns } from '../suppression/columns.ts';
import { type AddressCell, createEntryReader, type EntrySink } from '../suppression/entries.ts';
import { createUntilReader } from '../suppression/until.ts';

/** A suppression list as it is read. */
export interface SuppressionSource extends Pick<SuppressionFile, 'path' | 'file'> {
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly defaultCountry: string | null;
  /** IANA zone of the days in `until`. */
  readonly timeZone: string;
}

/** What is wrong with a list: the first so many rows, and how many there are. */
export interface ListFaults {
  readonly diagnostics: readonly Diagnostic[];
  readonly total: number;
}

type ListsOf = Pick<Campaign, 'suppressions'> & {
  readonly recipients: Pick<ListSpec, 'defaultCountry'>;
  readonly project: Pick<Project, 'defaultCountry' | 'timeZone'>;
};

/** Rows of one list that are named one by one; the rest is counted. */
const NAMED_FAULTS = 1000;

/**
 * Which files a campaign is checked against, and how their numbers are read. Those of handbill.yaml mean the same in
 * every campaign, so that the project's country comes first there.
 */
export function sourcesOf({ suppressions, recipients, project }: ListsOf): readonly SuppressionSource[] {
  return suppressions.map(({ path, file, namedBy }) => {
    const [first, second] = [recipients.defaultCountry, project.defaultCountry];
    const defaultCountry = namedBy === 'campaign' ? (first ?? second) : (second ?? first);
    return { path, file, defaultCountry, timeZone: project.timeZone };
  });
}

export interface ListReadOptions {
  /** The bytes that the list must still have. */
  readonly expected?: ListDigest;
  /** Called after some hundred rows; nothing more is read until it is done. */
  readonly each?: () => Promise<void> | undefined;
}

/** What was wrong with a list, and the digest of its bytes; null where it could not be read to its end. */
export interface ListRead extends ListFaults {
  readonly digest: ListDigest | null;
}

/** Reads a suppression list as a stream, and hands what it holds to `sink`. Everything that is wrong comes back. */
export async function readSuppressionList(
  source: SuppressionSource,
  sink: EntrySink,
  { expected, each }: ListReadOptions = {},
): Promise<ListRead> {
  const { file, defaultCountry, timeZone } = source;
  const diagnostics: Diagnostic[] = [];
  let total = 0;
  let digest: ListDigest | null = null;
  try {
    const list = await openList(specOf(source), expected === undefined ? {} : { expected });
    try {
      const columns = findColumns(list.columns, file, list.headerLine);
      if ('code' in columns) return { diagnostics: [columns], total: 1, digest };
      const cells = cellsOf(defaultCountry);
      const read = createEntryReader({ file, columns, cells, untilOf: await createUntilReader(timeZone) }, sink);
      for await (const rows of list.rows()) {
        for (const row of rows) {
          const fault = read(row);
          if (fault !== null && ++total <= NAMED_FAULTS) diagnostics.push(hinted(fault));
        }
        const taken = each?.();
        if (taken !== undefined) await taken;
      }
      digest = list.digest();
    } finally {
      await list.close();
    }
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    diagnostics.push(...error.diagnostics.map(hinted));
    total += error.total;
  }
  return { diagnostics, total, digest };
}

function cellsOf(defaultCountry: string | null): Readonly<Record<AddressKind, AddressCell>> {
  const cellOf = (kind: AddressKind): AddressCell => ({
    read: createAddressReader(kind, defaultCountry),
    explain: (cell, found) => addressMessage(kind, kind, cell, found),
  });
  return { msisdn: cellOf('msisdn'), email: cellOf('email'), contact: cellOf('contact') };
}

function specOf({ path, file }: SuppressionSource): ListSpec {
  return {
    path,
    file,
    inline: null,
    kind: 'msisdn',
    to: '',
    key: [],
    duplicates: null,
    defaultCountry: null,
    delimiter: null,
    encoding: null,
    // Of handbill's own exports as of any other: no address begins so, and a missed one would be sent to.
    escaped: true,
    onInvalid: 'refuse',
    alsoInvalid: [],
    timeZone: null,
    columns: {},
    where: null,
  };
}

/** The hints of the reader of recipients name settings that a suppression list does not have. */
function hinted(found: Diagnostic): Diagnostic {
  const hint = HINTS[found.code];
  if (hint !== undefined && (found.hint ?? '').includes('`recipients.')) return { ...found, hint };
  return found;
}

const HINTS: Partial<Record<Diagnostic['code'], string>> = {
  'file-not-found': 'Check `suppressions`.',
  'invalid-encoding': 'Save it as "CSV UTF-8".',
  'csv-nul': 'Remove it, or save the list as "CSV UTF-8".',
  'invalid-address':
    'Write it with "+" and the country code, or set `defaultCountry` in handbill.yaml, for example to GB.',
};

/** A row or a key that is missing is worth an error of its own, with the place of the first hash. */
export function hashProblem(found: Diagnostic, file: string, line: number): Diagnostic {
  return problem(found.code, `${file} holds hashes. ${found.message}`, {
    at: { file, line },
    ...(found.hint === undefined ? {} : { hint: found.hint }),
  });
}
