import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, it, test } from 'vitest';
import { parse } from 'yaml';
import type { WireFile } from '../../src/campaign/written.ts';
import { addWebhookOptions } from '../../src/cli/sandbox/command.ts';
import { channelsOf, DEVICES } from '../../src/sandbox/devices.ts';
import { DIALECTS } from '../../src/sandbox/dialects.ts';
import { DIALECT_NAMES, type DialectName } from '../../src/sandbox/openapi.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios.ts';
import { STORIES } from '../../src/sandbox/stories.ts';
import { NO_SHARES, USUAL_DELAYS_MS, USUAL_RETRIES_MS } from '../../src/sandbox/webhook.ts';
import { judge, told } from '../http/answers.ts';
import { wireOf } from '../http/wire.ts';
import { post, withSandbox } from './post.ts';

const page = pageOf('sandbox-answers');
const webhooks = pageOf('sandbox-webhooks');

function pageOf(name: string): string {
  return readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8');
}

/** The lines of one section that look like this. */
function rowsOf(section: string, form: RegExp, on = page): string[] {
  const text = on.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return text.split('\n').filter((line) => form.test(line));
}

it('docs/reference/sandbox-answers.md shows the table of scripted answers as it is', () => {
  const expected = SCENARIOS.map(({ digits, answers, becomes }) => `| \`${digits}\` | ${answers} | ${becomes} |`);
  expect(rowsOf('Scripted answers', /^\| `\d{3}` \|/)).toEqual(expected);
});

it('docs/reference/sandbox-answers.md shows the table of devices as it is', () => {
  const expected = [...DEVICES].map(
    ([digits, device]) => `| \`${digits}\` | ${device.label} | ${channelsOf(device)} |`,
  );
  expect(rowsOf('Devices', /^\| `\d{3}` \|/)).toEqual(expected);
});

it('docs/reference/sandbox-webhooks.md shows the table of fixed stories as it is', () => {
  const expected = STORIES.map(({ digits, comesBack }) => `| \`${digits}\` | ${comesBack} |`);
  expect(rowsOf('Fixed stories', /^\| `\d{3}` \|/, webhooks)).toEqual(expected);
});

it('docs/reference/sandbox-webhooks.md names every share, every delay and every option of delivery reports and replies', () => {
  const program = webhooks.split('\n## From a program\n')[1] ?? '';
  for (const name of [...Object.keys(NO_SHARES), ...Object.keys(USUAL_DELAYS_MS)]) {
    expect(program).toContain(`\`${name}\``);
  }
  const command = new Command();
  addWebhookOptions(command);
  for (const { long } of command.options) expect(webhooks).toContain(long);
  expect(webhooks).toContain(`--retries ${USUAL_RETRIES_MS.join(',')}`);
});

it('docs/reference/sandbox-webhooks.md shows what GET /sandbox/reports counts', async () => {
  const shown = /```json\n(\{\n {2}"webhook"[\s\S]*?)```/.exec(webhooks)?.[1] ?? '{}';
  await withSandbox({}, async (sandbox) => {
    expect(Object.keys(JSON.parse(shown) as object).toSorted()).toEqual(Object.keys(sandbox.reports).toSorted());
  });
});

it('docs/reference/sandbox-answers.md shows the statuses of each dialect as they are', () => {
  const rows = rowsOf('Dialects', /^\| `[a-z-]+` \| \d/).map((row) => row.split(' | '));
  const shown = rows.map(([name, taken, invalid]) => [name, taken?.slice(0, 3), invalid]);
  const expected = Object.values(DIALECTS).map(({ name, acceptedStatus, invalidStatus }) => [
    `| \`${name}\``,
    String(acceptedStatus),
    String(invalidStatus),
  ]);
  expect(shown).toEqual(expected);
});

/** The settings of `wire` that docs/reference/sandbox-answers.md shows for each dialect; the default one needs none. */
const WIRES = parse(/```yaml\n(top-level:[\s\S]*?)```/.exec(page)?.[1] ?? '') as Record<string, WireFile>;

test.each(DIALECT_NAMES)('the settings on the page make handbill understand %s', async (dialect) => {
  const wire = wireOf(WIRES[dialect] ?? {});
  await withSandbox({ dialect }, async (sandbox) => {
    const ask = async (...endings: readonly string[]): Promise<readonly string[]> => {
      const { status, type, text } = await post(sandbox, messageIn(dialect, endings));
      const recipients = endings.map((digits) => ({ to: `+447700900${digits}`, reference: `ref-${digits}` }));
      const verdicts = judge({ status, contentType: type, body: text }, { wire, recipients });
      return verdicts.some(({ split }) => split)
        ? ['split']
        : told(verdicts).map((one) => one.replace(/sbx-\S+/, 'id'));
    };
    const each = dialect === 'default' || dialect === 'per-recipient';
    expect(await ask('123')).toEqual(['accepted id']);
    expect(await ask('422')).toEqual([dialect === 'per-recipient' ? 'rejected refused' : 'rejected status']);
    expect(await ask('844')).toEqual(['rejected unsupported-channel']);
    expect(await ask('123', '124')).toEqual(['accepted id', 'accepted id']);
    expect(await ask('123', '844')).toEqual(each ? ['accepted id', 'rejected unsupported-channel'] : ['split']);
    expect(await ask('422', '123')).toEqual(each ? ['rejected refused', 'accepted id'] : ['split']);
    expect(await ask('413', '123')).toEqual(['split']);
    expect(await ask('401')).toEqual(['pending not-authorised']);
  });
});

function messageIn(dialect: DialectName, endings: readonly string[]): unknown {
  const own = dialect === 'per-recipient' ? { plus: '', name: 'ref' } : { plus: '+', name: 'handbill' };
  const recipients = endings.map((digits) => ({
    msisdn: `${own.plus}447700900${digits}`,
    metaData: { [own.name]: `ref-${digits}` },
  }));
  return { channel: 'RCS', body: { text: 'Hello' }, recipients };
}
