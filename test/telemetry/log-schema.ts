import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAjv } from '../helpers/format-schemas.ts';

/** One record of a log, as it was written. */
export type Written = Readonly<Record<string, unknown>>;

const SCHEMA = join(import.meta.dirname, '..', '..', 'schemas', 'log.schema.json');

const validate = formatAjv({ strict: true, allErrors: true, strictRequired: false, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

/** The records of a log, each of which is one line that the schema knows; throws with the first that is not. */
export function recordsIn(text: string): readonly Written[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const record = JSON.parse(line) as Written;
      if (!validate(record)) throw new Error(`${line}\n${JSON.stringify(validate.errors)}`);
      return record;
    });
}

export function eventsIn(text: string): readonly unknown[] {
  return recordsIn(text).map(({ event }) => event);
}
