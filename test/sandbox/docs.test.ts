import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { REPORTING } from '../../src/cli/sandbox/command.ts';
import { addOptions } from '../../src/cli/shared/options.ts';
import { DEVICES } from '../../src/sandbox/devices.ts';
import { ENDINGS } from '../../src/sandbox/endings.ts';
import { DEFAULTS } from '../../src/sandbox/webhook.ts';
import { withSandbox } from './post.ts';

const page = readFileSync(new URL('../../docs/reference/sandbox.md', import.meta.url), 'utf8');

/** The lines of one section that look like this. */
function rowsOf(section: string, form: RegExp): string[] {
  const text = page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return text.split('\n').filter((line) => form.test(line));
}

it('shows the table of endings as it is', () => {
  const expected = ENDINGS.map(({ digits, answers, becomes }) => `| \`${digits}\` | ${answers} | ${becomes} |`);
  expect(rowsOf('Endings', /^\| `\d{3}` \|/)).toEqual(expected);
});

it('shows the table of devices as it is', () => {
  const expected = [...DEVICES].map(
    ([digits, device]) => `| \`${digits}\` | ${device.label} | ${device.takes.join(', ')} |`,
  );
  expect(rowsOf('Devices', /^\| `\d{3}` \|/)).toEqual(expected);
});

it('names every share, every delay and every option of delivery reports and replies', () => {
  const program = page.split('\n## From a program\n')[1] ?? '';
  for (const name of [...Object.keys(DEFAULTS.shares), ...Object.keys(DEFAULTS.delaysMs)]) {
    expect(program).toContain(`\`${name}\``);
  }
  const command = new Command();
  addOptions(command, REPORTING, { env: {}, now: Date.now });
  for (const { long } of command.options) expect(page).toContain(long);
  expect(page).toContain(`--retries ${DEFAULTS.retriesMs.join(',')}`);
});

it('shows what GET /sandbox/reports counts', async () => {
  const shown = /```json\n(\{\n {2}"webhook"[\s\S]*?)```/.exec(page)?.[1] ?? '{}';
  await withSandbox({}, async (sandbox) => {
    expect(Object.keys(JSON.parse(shown) as object).toSorted()).toEqual(Object.keys(sandbox.reports).toSorted());
  });
});
