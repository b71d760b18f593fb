import type { JsonObject } from '../model.ts';
import {
  checkCount,
  checkFilled,
  checkLabel,
  checkLength,
  checkUnique,
  type Findings,
  invalid,
  mappingsOf,
  nameOf,
  overLimit,
} from './check-values.ts';

/** Lengths are in characters. */
export const LIST_LIMITS = {
  button: 20,
  sections: 10,
  /** In all sections together. */
  rows: 10,
  sectionTitle: 24,
  rowId: 200,
  rowTitle: 24,
  rowDescription: 72,
} as const;

/** A list to choose from, in sections. */
export function checkList(found: Findings, list: JsonObject): void {
  checkLabel(found, '/list/button', list['button'], LIST_LIMITS.button);
  const sections = mappingsOf(list['sections']);
  checkCount(found, '/list/sections', sections.length, LIST_LIMITS.sections, 'sections');
  for (const [i, section] of sections.entries()) checkSection(found, `/list/sections/${i}`, section, sections.length);
  checkRows(found, sections);
}

function checkSection(found: Findings, at: string, section: JsonObject, sections: number): void {
  const { title } = section;
  if (title !== undefined) checkLabel(found, `${at}/title`, title, LIST_LIMITS.sectionTitle);
  else if (sections > 1) {
    const message = `${nameOf(at)} has no title, which it needs beside other sections.`;
    invalid(found, at, message, 'Give it a "title".');
  }
  for (const [i, row] of mappingsOf(section['rows']).entries()) {
    const pointer = `${at}/rows/${i}`;
    checkFilled(found, `${pointer}/id`, row['id']);
    checkLength(found, `${pointer}/id`, row['id'], LIST_LIMITS.rowId);
    checkLabel(found, `${pointer}/title`, row['title'], LIST_LIMITS.rowTitle);
    checkLength(found, `${pointer}/description`, row['description'], LIST_LIMITS.rowDescription);
  }
}

/** Rows count in all sections together, and each has an id of its own. */
function checkRows(found: Findings, sections: readonly JsonObject[]): void {
  const rows = sections.flatMap((section, s) =>
    mappingsOf(section['rows']).map((row, r) => ({ row, pointer: `/list/sections/${s}/rows/${r}` })),
  );
  const tooMany = rows[LIST_LIMITS.rows];
  if (tooMany !== undefined) {
    const message = `The list has ${rows.length} rows in all; ${found.channel} takes at most ${LIST_LIMITS.rows}.`;
    overLimit(found, tooMany.pointer, message);
  }
  checkUnique(
    found,
    rows.map(({ row }) => row['id']),
    (i) => `${rows[i]?.pointer ?? ''}/id`,
  );
}
