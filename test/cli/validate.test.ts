import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkCampaigns } from '../../src/operations/validate.ts';
import { HELLO, handbill, projectWith } from './run-handbill.ts';

const removals: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const remove of removals.splice(0)) await remove();
});

async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const { root, remove } = await projectWith({ ...HELLO, ...files });
  removals.push(remove);
  return root;
}

const BAD_ROWS = `msisdn,first\n+447700900001,Ann\n12,Bo\n+447700900003,\n`;

test('a good campaign: one line with the figures, exit 0, nothing written', async () => {
  const root = await project({});
  const { status, out, err } = await handbill(root, ['validate']);
  expect(status).toBe(0);
  expect(out).toBe('hello: 3 recipients, 2 to send, 1 skipped (1 duplicate), 2 parts: ok\n');
  expect(err).toContain('warning[unassigned-number]');
  expect(err).toContain('1 more of the same kind.');
  expect(err).toContain('campaigns/hello/people.csv:2');
});

test('--quiet prints nothing when all is well, in both formats', async () => {
  const root = await project({});
  for (const format of ['text', 'json']) {
    const result = await handbill(root, ['validate', '--quiet', '--format', format]);
    expect(result).toEqual({ status: 0, out: '', err: '' });
  }
});

test('every bad row is named with its place, exit 2', async () => {
  const root = await project({ 'campaigns/hello/people.csv': BAD_ROWS });
  const { status, out, err } = await handbill(root, ['validate', '--quiet']);
  expect(status).toBe(2);
  expect(err).toContain('campaigns/hello/people.csv:3');
  expect(err).toContain('campaigns/hello/people.csv:4');
  expect(err).toContain('2 errors');
  expect(out).toContain('2 invalid');
  expect(out).toContain(': 2 errors\n');
});

test('--allow invalid-rows counts them instead', async () => {
  const root = await project({ 'campaigns/hello/people.csv': BAD_ROWS });
  const { status, out } = await handbill(root, ['validate', '--allow', 'invalid-rows']);
  expect(status).toBe(0);
  expect(out).toContain('2 skipped (1 invalid-address, 1 missing-variable)');
});

test('text shows examples of a cause and the count, json all of them', async () => {
  const rows = Array.from({ length: 1234 }, (_, i) => `bad ${i},x\n`).join('');
  const root = await project({ 'campaigns/hello/people.csv': `msisdn,first\n${rows}` });
  const text = await handbill(root, ['validate']);
  expect(text.err.match(/^error\[/gm)).toHaveLength(2);
  expect(text.err).toContain('  1,232 more like it: lines 4, 5, 6, 7, 8, 9, 10, 11 and others\n');
  expect(text.err).toContain('1,234 errors (1,232 not shown)');
  const json = await handbill(root, ['validate', '--format', 'json']);
  expect({ status: json.status, err: json.err }).toEqual({ status: 2, err: '' });
  const { diagnostics } = JSON.parse(json.out) as { diagnostics: Record<string, unknown>[] };
  expect(diagnostics).toHaveLength(1234);
  expect(Object.keys(diagnostics[0] ?? {})).toEqual(['code', 'severity', 'message', 'file', 'line', 'column', 'hint']);
  expect(diagnostics[1233]).toMatchObject({ code: 'invalid-address', severity: 'error', line: 1235 });
});

test('errors in files and templates of several campaigns come together', async () => {
  const root = await project({
    'campaigns/hello/hello.hbs': 'Hello {{frist}}.',
    'campaigns/other/campaign.yaml':
      'name: hello\nchanel: sms\ntemplate: { text: Hi }\nrecipients: ../hello/people.csv\n',
  });
  const { status, out, err } = await handbill(root, ['validate', 'campaigns']);
  expect(status).toBe(2);
  expect(err).toContain('campaigns/other/campaign.yaml:2');
  expect(err).toContain('Did you mean "channel"?');
  expect(err).toContain('error[duplicate-campaign-name]');
  expect(out.split('\n')).toHaveLength(5);
});

test('of many errors, what is wrong with a file comes before faults in rows, and the most frequent of these first', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => `bad ${i},x\n`).join('');
  const root = await project({
    'campaigns/hello/people.csv': `msisdn,first\n+447400123456,\n${rows}`,
    'campaigns/other/campaign.yaml':
      'name: other\nchanel: sms\ntemplate: { text: Hi }\nrecipients: ../hello/people.csv\n',
  });
  const { out, err } = await handbill(root, ['validate', 'campaigns']);
  const codes = [...err.matchAll(/^error\[([\w-]+)\]/gm)].map(([, code]) => code);
  expect(codes).toEqual(['missing-variable', 'unknown-key', 'invalid-address', 'invalid-address']);
  expect(out.split('\n')[1]).toMatch(/^hello .* error/);
});

test('a control character from a list never reaches the terminal', async () => {
  const root = await project({ 'campaigns/hello/people.csv': 'msisdn,first\n\u001b[31m12,Ann\n' });
  const { err } = await handbill(root, ['validate']);
  expect(err).not.toContain('\u001b');
  expect(err).toContain('error[');
});

test('as a function it returns data and keeps little of much', async () => {
  const rows = Array.from({ length: 500 }, (_, i) => `bad ${i},x\n`).join('');
  const root = await project({ 'campaigns/hello/people.csv': `msisdn,first\n${rows}` });
  const result = await checkCampaigns([], { cwd: root, now: Date.now });
  expect(result.errors).toBe(500);
  expect(result.total).toBe(500);
  expect(result.diagnostics).toHaveLength(20);
  expect(result.files[0]).toMatchObject({ file: 'campaigns/hello/campaign.yaml', errors: 500 });
});

test('a suppression list of several campaigns is read once', async () => {
  const campaign = (name: string, more = '') =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n${more}`;
  const list = 'msisdn\n+447911123401\n+447911123402\n+447911123403\n';
  const root = await project({
    'handbill.yaml': 'suppressions: gone.csv\n',
    'gone.csv': 'msisdn\n+447911123401\n',
    'campaigns/a/campaign.yaml': campaign('a'),
    'campaigns/a/people.csv': `${list}12\n`,
    'campaigns/b/campaign.yaml': campaign('b', 'suppressions: more.csv\n'),
    'campaigns/b/more.csv': 'msisdn\n+447911123402\n',
    'campaigns/b/people.csv': list,
    'campaigns/c/campaign.yaml': campaign('c'),
    'campaigns/c/people.csv': list,
  });
  // A second reading after the first campaign would meet its content of then.
  const result = await checkCampaigns(['campaigns/a', 'campaigns/b', 'campaigns/c'], {
    cwd: root,
    now: () => Date.now(),
    onDiagnostic: async ({ code }) => {
      if (code === 'invalid-address') await writeFile(join(root, 'gone.csv'), 'msisdn\nnot a number\n');
    },
  });
  expect(result.diagnostics.map(({ code, at }) => [code, at?.file])).toEqual([
    ['invalid-address', 'campaigns/a/people.csv'],
  ]);
  expect(result.files.map(({ estimate }) => estimate?.skipped)).toEqual([
    { suppressed: 1 },
    { suppressed: 2 },
    { suppressed: 1 },
  ]);
});

test('nothing to check is an error, for a script that names the wrong folder', async () => {
  const root = await project({});
  await mkdir(join(root, 'empty'));
  await writeFile(join(root, 'empty/notes.txt'), 'x');
  const { status, err } = await handbill(join(root, 'empty'), ['validate']);
  expect(status).toBe(2);
  expect(err).toContain('error[campaign-not-found]');
});

test('a list that is not there hides nothing of the templates, for any command', async () => {
  const root = await project({
    'campaigns/hello/campaign.yaml': HELLO['campaigns/hello/campaign.yaml'].replace('people.csv', 'gone.csv'),
    'campaigns/hello/hello.hbs': 'Hi {{first}} {{shout first}} {{#if first}}',
  });
  for (const args of [['validate'], ['preview', 'hello'], ['send', 'hello', '--yes'], ['plan', 'hello']]) {
    const { status, err } = await handbill(root, args);
    expect([args, status]).toEqual([args, 2]);
    expect(err).toContain('error[file-not-found]');
    expect(err).toContain('error[template-syntax]');
    expect(err).toContain('2 errors');
  }
});

test('a header that cannot be read hides nothing of the templates either, and no name is called unknown for it', async () => {
  const root = await project({
    'campaigns/hello/people.csv': 'msisdn,first,first\n+447700900001,Ann,Bo\n',
    'campaigns/hello/hello.hbs': 'Hi {{first}} {{shout first}}',
  });
  const { status, err } = await handbill(root, ['validate']);
  expect(status).toBe(2);
  expect(err).toContain('error[csv-duplicate-header]');
  expect(err).toContain('error[unknown-helper]');
  expect(err).not.toContain('unknown-name');
});

test('--recipients is the list of one campaign', async () => {
  const root = await project({
    'campaigns/other/campaign.yaml': HELLO['campaigns/hello/campaign.yaml'].replace('name: hello', 'name: other'),
    'campaigns/other/hello.hbs': 'Hi',
    'list.csv': 'msisdn,first\n+447700900009,Cy\n',
  });
  const { status, err } = await handbill(root, ['validate', '--recipients', 'list.csv']);
  expect(status).toBe(2);
  expect(err).toContain('--recipients replaces the list of one campaign, and 2 are checked here.');
  expect((await handbill(root, ['validate', 'hello', '--recipients', 'list.csv'])).status).toBe(0);
});

test('a comparison that no recipient meets is named, with what the list has instead', async () => {
  const list = 'msisdn,first,plan\n+447400000001,Ann,gold\n+447400000002,Bo,silver\n+447400000003,Cy,gold\n';
  const root = await project({
    'campaigns/hello/people.csv': list,
    'campaigns/hello/hello.hbs':
      'Hi {{first}}{{#if (eq plan "Gold")}} a{{/if}}{{#if (eq plan "silver")}} b{{/if}}\n{{#unless (ne plan "bronze")}}c{{/unless}}',
  });
  const { status, err } = await handbill(root, ['validate']);
  expect(status).toBe(0);
  expect(err.match(/warning\[unmet-comparison\].*/g)).toEqual([
    'warning[unmet-comparison]: No recipient who is sent to has "Gold" in the column "plan".',
    'warning[unmet-comparison]: No recipient who is sent to has "bronze" in the column "plan".',
  ]);
  expect(err).toContain('The list has "gold"');
  expect(err).toContain('campaigns/hello/hello.hbs:1:19');
  expect((await handbill(root, ['preview', 'hello'])).err + (await handbill(root, ['preview', 'hello'])).out).toContain(
    'No recipient who is sent to has "Gold"',
  );
  const other = await project({
    'campaigns/hello/people.csv': list.replaceAll('gold', 'Gold').replace('silver', 'bronze'),
    'campaigns/hello/hello.hbs': 'Hi {{first}}{{#if (eq plan "Gold")}} a{{/if}}{{#if (eq "bronze" plan)}} b{{/if}}',
  });
  expect((await handbill(other, ['validate'])).err).not.toContain('unmet-comparison');
});

test('--at says for which day the rows are checked, as a time or from now', async () => {
  const root = await project({
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: { csv: people.csv, where: { visit: { $on: tomorrow } }, maxAge: 1h }\n',
    'campaigns/hello/people.csv': 'msisdn,first,visit\n+447400000001,Ann,2031-03-02\n4.47E+11,Bo,2031-03-02\n',
  });
  expect((await handbill(root, ['validate', '--quiet'])).status).toBe(0);
  const { status, err } = await handbill(root, ['validate', '--at', '2031-03-01T09:00:00Z']);
  expect(status).toBe(2);
  expect(err).toContain('error[invalid-address]');
  expect(err).toContain('campaigns/hello/people.csv:3');
  expect(err).not.toContain('list-too-old');
  expect((await handbill(root, ['validate', '--at', '+1d', '--quiet'])).status).toBe(0);
  expect((await handbill(root, ['validate', '--at', '1d'])).err).toContain('or a time from now: +14d.');
});
