import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { SCENARIOS } from '../../src/sandbox/scenarios.ts';

it('docs/sandbox.md shows the table of scripted answers as it is', async () => {
  const page = await readFile(new URL('../../docs/sandbox.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `\d{3}` \|/.test(line));
  const expected = SCENARIOS.map(({ digits, answers, becomes }) => `| \`${digits}\` | ${answers} | ${becomes} |`);
  expect(rows).toEqual(expected);
});
