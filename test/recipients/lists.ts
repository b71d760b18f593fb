import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Diagnostic, HandbillError } from '../../src/errors.ts';
import type { ListSpec, Row } from '../../src/model.ts';
import { type ListOptions, ONLY_CELLS, openList } from '../../src/recipients/read.ts';

export interface Lists {
  /** Path of a file in the temporary folder. */
  path(name: string): string;
  /** Writes a list and describes it. */
  write(content: string | Uint8Array, settings?: Partial<ListSpec>): Promise<ListSpec>;
}

/** A temporary folder for lists, for one test file. */
export function useLists(): Lists {
  let folder = '';
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'handbill-recipients-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const path = (name: string): string => join(folder, name);
  return {
    path,
    async write(content, settings = {}) {
      const file = path(`list-${count++}.csv`);
      await writeFile(file, content);
      return specOf(file, settings);
    },
  };
}

export function specOf(path: string, settings: Partial<ListSpec> = {}): ListSpec {
  return { ...ONLY_CELLS, path, file: 'people.csv', to: 'msisdn', ...settings };
}

/** Everything in a list. */
export async function readAll(
  spec: ListSpec,
  options: ListOptions = {},
): Promise<{ columns: readonly string[]; headerLine: number; rows: Row[] }> {
  const list = await openList(spec, options);
  const rows: Row[] = [];
  for await (const batch of list.rows()) rows.push(...batch);
  return { columns: list.columns, headerLine: list.headerLine, rows };
}

/** What a list is refused for. */
export async function refusal(work: Promise<unknown>): Promise<readonly Diagnostic[]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HandbillError && error.exit === 2) return error.diagnostics;
    throw error;
  }
  throw new Error('The list was not refused.');
}

/** `code line:column` of each diagnostic: short enough for tables. */
export function places(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map((d) => `${d.code} ${d.at?.line ?? '-'}:${d.at?.column ?? '-'}`);
}

/** UTF-16 with its byte order mark. */
export function utf16(text: string, order: 'le' | 'be', mark = true): Buffer {
  const bytes = Buffer.from(mark ? `\ufeff${text}` : text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}
