/* Between rows, and between the fields of a row: no text of a list needs them, and JSON never holds them raw. */

export const ROW_END = '\u001e';
export const FIELD_END = '\u001f';
