import { type Diagnostic, problem } from '../errors.ts';
import { type Book, createBook } from '../suppression/book.ts';
import type { Hasher } from '../suppression/hash.ts';
import type { HasherReading } from '../suppression/key.ts';
import { hashProblem, type ListFaults, readSuppressionList, type SuppressionSource } from './suppression-lists.ts';

/** Some lists in one book. */
export interface Part {
  readonly book: Book;
  /** By the numbers of the lists. */
  readonly names: readonly string[];
}

/** A part, and what was wrong with its lists. */
export interface ReadPart extends Part {
  readonly faults: ListFaults;
}

/** What was read of lists that several campaigns name: a command over many campaigns reads each list once. */
export type SharedLists = Map<string, Promise<ReadPart>>;

/**
 * Reads each list into a book of its own, or takes what was read before.
 *
 * @param root - of the project, to whose key the hashes are compared
 */
export async function readShared(
  sources: readonly SuppressionSource[],
  root: string,
  reading: HasherReading,
  shared: SharedLists,
): Promise<readonly ReadPart[]> {
  const parts: ReadPart[] = [];
  for (const source of sources) {
    // The country says how its numbers are read.
    const key = JSON.stringify([root, source]);
    const part = shared.get(key) ?? readPart([source], reading);
    shared.set(key, part);
    parts.push(await part);
  }
  return parts;
}

/** Reads lists into one book, in which an address is found at once. */
export async function readPart(sources: readonly SuppressionSource[], reading: HasherReading): Promise<ReadPart> {
  const book = createBook();
  const diagnostics: Diagnostic[] = [];
  let total = 0;
  const add = (found: ListFaults): void => {
    diagnostics.push(...found.diagnostics);
    total += found.total;
  };
  for (const [number, source] of sources.entries()) {
    const keys = createKeyCheck(source.file, reading);
    const faults = await readSuppressionList(source, {
      address: (form, untilMs) => book.add(form, untilMs, number),
      hash({ keyId, hash }, untilMs, _reason, line) {
        keys.see(keyId, line);
        book.addHash(hash, untilMs, number);
      },
    });
    add(faults);
    add(keys.faults());
  }
  return { book, names: sources.map(({ file }) => file), faults: { diagnostics, total } };
}

/** Looks at the keys of the hashes in one list: each that is not the project's is said once. */
export function createKeyCheck(file: string, reading: HasherReading) {
  const wrong = new Map<string, Diagnostic>();
  return {
    see(keyId: string, line: number): void {
      if ('problem' in reading) {
        if (wrong.size === 0) wrong.set('', hashProblem(reading.problem, file, line));
      } else if (keyId !== reading.hasher.keyId && !wrong.has(keyId)) {
        wrong.set(keyId, otherKeyProblem(keyId, reading.hasher, { file, line }));
      }
    },
    faults: (): ListFaults => ({ diagnostics: [...wrong.values()], total: wrong.size }),
  };
}

/** Hashes of one key say nothing to another. */
export function otherKeyProblem(
  keyId: string,
  hasher: Hasher,
  at: { readonly file: string; readonly line?: number },
): Diagnostic {
  const message = `Hashes were made with another key (${keyId}) than this project's (${hasher.keyId}).`;
  const hint = 'Set `suppressionKey` to the key that they were made with, or have the list made again with this one.';
  return problem('other-suppression-key', message, { at, hint });
}
