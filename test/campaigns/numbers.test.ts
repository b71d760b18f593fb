import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { describe, expect, it, test } from 'vitest';
import { scenarioFor } from '../../src/sandbox/scenarios.ts';

const CAMPAIGNS = new URL('../../campaigns/', import.meta.url);

/** What regulators keep free for documentation and drama. */
const RESERVED = [
  /^\+447700900\d{3}$/,
  /^\+1[2-9]\d\d55501\d\d$/,
  /^\+6149157015[6-9]$/,
  /^\+33639980\d{3}$/,
  /^\+4917139200\d\d$/,
  /^\+467017406(?:0[5-9]|[1-9]\d)$/,
];

/** The cells of a list that look like phone numbers, in E.164. */
function numbersOf(path: string): string[] {
  const text = readFileSync(new URL(path, CAMPAIGNS), 'utf8');
  const delimiter = /^[^\n]*;/.test(text) ? ';' : ',';
  const cells = (parse(text, { bom: true, delimiter }) as string[][]).flat();
  const long = cells.filter((cell) => /^[+(\d][\d ()-]{8,}$/.test(cell) && !/^\d{4}-\d\d-\d\d/.test(cell));
  return long.map((cell) => parsePhoneNumberFromString(cell.replace(/^00/, '+'), 'GB')?.number ?? cell);
}

const lists = readdirSync(CAMPAIGNS, { recursive: true, encoding: 'utf8' }).filter((path) => /\/.*\.csv$/.test(path));

it('there are six examples, each with a campaign and a list', () => {
  const folders = [...new Set(lists.map((path) => path.split('/')[0]))].toSorted();
  expect(folders).toEqual(['marketing', 'notification', 'one-time-password', 'reminder', 'support', 'survey']);
  for (const folder of folders) expect(readdirSync(new URL(`${folder}/`, CAMPAIGNS))).toContain('campaign.yaml');
});

describe('nobody has the numbers of the examples', () => {
  test.each(lists)('%s', (path) => {
    const numbers = numbersOf(path);
    expect(numbers.length).toBeGreaterThanOrEqual(5);
    expect(numbers.filter((number) => !RESERVED.some((range) => range.test(number)))).toEqual([]);
  });
});

it('only the numbers that are meant to play a script', () => {
  const played = lists.flatMap((path) =>
    numbersOf(path).flatMap((number) => {
      const scenario = scenarioFor(number, 'reserved');
      return scenario === null ? [] : [`${path} ${scenario.digits}`];
    }),
  );
  expect(played.toSorted()).toEqual([
    'notification/people.csv 429',
    'support/tickets.csv 422',
    'support/tickets.csv 429',
  ]);
});
