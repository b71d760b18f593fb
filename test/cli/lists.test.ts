import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

/** What a user sees of a list that is not as it should be. */

let remove = async (): Promise<void> => undefined;
afterEach(() => remove());

async function project(recipients: string, people: string, text = 'Hello {{name}}'): Promise<string> {
  const made = await projectWith({
    'hello/campaign.yaml': `name: hello
channel: sms
from: Riverside
template: { text: "${text}" }
recipients: { csv: people.csv${recipients === '' ? '' : `, ${recipients}`} }
`,
    'hello/people.csv': people,
  });
  remove = made.remove;
  return made.root;
}

async function validate(root: string): Promise<{ readonly status: number; readonly said: readonly string[] }> {
  const { status, out } = await handbillHere(root, ['validate', 'hello', '--format', 'json']);
  const { diagnostics } = JSON.parse(out) as { diagnostics: { code: string; at?: object; line?: number }[] };
  return { status: status ?? 0, said: diagnostics.map(({ code, line }) => `${code} ${line ?? '-'}`) };
}

describe('dates as people write them', () => {
  const DUE = 'columns: { due: { type: date, format: dd/MM/yyyy } }';

  it('are ISO dates in a message, and in a query', async () => {
    const list = 'msisdn,due\n+447400123456,01/12/2026\n+447400123457,21/11/2026\n';
    const where = `${DUE}, where: { due: { $gte: 2026-12-01 } }`;
    const root = await project(where, list, "{{due}}, {{date due 'd MMMM'}}");
    const { status, out } = await handbillHere(root, ['preview', 'hello']);
    expect(status).toBe(0);
    expect(out).toContain('| 2026-12-01, 1 December\n');
    expect(out).toContain('skip (excluded): due is 21/11/2026, not at or after 2026-12-01');
  });
});

describe('duplicates', () => {
  const DEVICES =
    'id,msisdn,name\nc-1,+447400123456,Ada\nc-2,07400 123456,Ada\nc-3,+447400123457,Zoe\nc-1,+447400123456,Eve\n';
  const KEYED = 'key: id, defaultCountry: GB';

  it('name the line of the first row, and say when the message would be another one', async () => {
    const root = await project(
      '',
      'msisdn,name,seat\n+447400123456,Ada,1\n+447400123456,Ada,2\n+44 7400 123456,Eve,3\n',
    );
    const { out } = await handbillHere(root, ['preview', 'hello']);
    expect(out).toContain('skip (duplicate): of line 2\n');
    expect(out).toContain('skip (duplicate): of line 2, with other values\n');
    expect(await validate(root)).toEqual({ status: 0, said: ['duplicate-differs 4'] });
    const { err } = await handbillHere(root, ['validate', 'hello']);
    expect(err).toContain('Line 4 is a duplicate of line 2 with other values: only line 2 counts.');
  });

  it('with another key are sent to, with a warning that has both lines', async () => {
    const root = await project(KEYED, DEVICES);
    expect(await validate(root)).toEqual({ status: 0, said: ['duplicate-address 3', 'duplicate-differs 5'] });
    const { err } = await handbillHere(root, ['validate', 'hello']);
    expect(err).toContain('Lines 2 and 3 have the same address and different keys');
    expect(err).toContain('name the columns that tell them apart: `recipients.key: [id, order]`');
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 4, accepted: 3, skipped: 1 });
  });

  it('are all sent to without a word where the campaign says so, but for one key twice', async () => {
    const root = await project(`${KEYED}, duplicates: keep`, DEVICES);
    expect(await validate(root)).toEqual({ status: 0, said: ['duplicate-differs 5'] });
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 4, accepted: 3, skipped: 1 });
  });

  it('are left out where the campaign says so', async () => {
    const root = await project(`${KEYED}, duplicates: skip`, DEVICES);
    const { out } = await handbillHere(root, ['preview', 'hello']);
    expect(out).toContain('skip (duplicate): of line 2, which has the same address and another key\n');
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 4, accepted: 2, skipped: 2 });
  });

  it('refuse everything where the campaign says so', async () => {
    const root = await project(`${KEYED}, duplicates: refuse`, DEVICES);
    expect(await validate(root)).toEqual({ status: 2, said: ['duplicate-row 3', 'duplicate-row 5'] });
    const sent = await handbillHere(root, ['send', 'hello']);
    expect(sent).toMatchObject({ status: 2, out: '' });
    expect(sent.err).toContain('The row is a duplicate of line 2, which has the same address and another key.');
    expect(sent.err).toContain('The row is a duplicate of line 2, with other values.');
  });

  it('are told apart by several columns together', async () => {
    const root = await project(
      'key: [msisdn, name], duplicates: keep',
      'msisdn,name\n+447400123456,Ada\n+447400123456,Eve\n+447400123456,Ada\n',
    );
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 3, accepted: 2, skipped: 1 });
    const { out } = await handbillHere(root, ['report', 'hello', '--format', 'jsonl']);
    expect(out).toContain('"key":"+447400123456|Eve"');
  });
});

describe('numbers that are unlikely to get an SMS', () => {
  // Numbers for documentation (unassigned) are more frequent than what is really wrong.
  const PEOPLE = `msisdn,name
+447700900011,Ada
+447700900012,Ravi
+447700900013,Zoe
+44770090014,Short
+442083661177,Landline
`;

  it('have a warning each, the most important first', async () => {
    const root = await project('', PEOPLE);
    const { status, err } = await handbillHere(root, ['validate', 'hello']);
    expect(status).toBe(0);
    expect(err.match(/warning\[.*\]|people\.csv:\d+/g)).toEqual([
      'warning[wrong-length-number]',
      'people.csv:5',
      'warning[landline-number]',
      'people.csv:6',
      'warning[unassigned-number]',
      'people.csv:2',
    ]);
    expect(err).toContain('The number has 9 digits after +44, and mobile numbers of GB have 10.');
    expect(err).toContain('The number is a landline of GB, and most get no SMS.');
    const preview = await handbillHere(root, ['preview', 'hello', '--line', '5']);
    expect(preview.out).toContain('! The number has 9 digits after +44');
  });

  it('have it also where their rows wait for the winner of a test', async () => {
    const { root, remove: removeTested } = await projectWith({
      'hello/campaign.yaml': `name: hello
channel: sms
from: Riverside
recipients: people.csv
variants:
  - { name: A, template: { text: "Hi {{name}}{{#if (eq name 'Landline')}}!{{/if}}" } }
  - { name: B, template: { text: "Ἀ {{name}}" } }
test: 1%
`,
      'hello/people.csv': PEOPLE,
    });
    remove = removeTested;
    const { said } = await validate(root);
    expect(said).toEqual([
      'unassigned-number 2',
      'unicode-message 2',
      'unassigned-number 3',
      'unicode-message 3',
      'unassigned-number 4',
      'unicode-message 4',
      'wrong-length-number 5',
      'unicode-message 5',
      'landline-number 6',
      'unicode-message 6',
    ]);
    const preview = await handbillHere(root, ['preview', 'hello', '--line', '6']);
    expect(preview.out).toContain('defer (winner-undecided)\n           ! The number is a landline of GB');
    const json = await handbillHere(root, ['preview', 'hello', '--line', '6', '--format', 'jsonl']);
    expect(JSON.parse(json.out.split('\n')[0] ?? '').warnings).toMatchObject([
      { code: 'landline-number' },
      { code: 'unicode-message' },
    ]);
  });

  it('are invalid where the campaign says so, and then what onInvalid says', async () => {
    const root = await project('alsoInvalid: [landline, wrong-length]', PEOPLE);
    const refused = await handbillHere(root, ['send', 'hello']);
    expect(refused).toMatchObject({ status: 2, out: '' });
    expect(refused.err).toContain('(column "msisdn") has 9 digits after +44');
    expect(refused.err).toContain('(column "msisdn") is a landline of GB');
    const sent = await handbillHere(root, ['send', 'hello', '--allow', 'invalid-rows', '--format', 'json']);
    expect(JSON.parse(sent.out)).toMatchObject({
      totals: { recipients: 5, accepted: 3, skipped: 2 },
      reasons: { skipped: { 'invalid-address': 2 } },
    });
  });
});

describe('a list out of a spreadsheet', () => {
  it('may have empty columns at its end and empty rows, which are left out with a note', async () => {
    const people = 'msisdn;name;;\n+447400123456;Ada;;\n;;;\n+447400123457;Zoe;;\n ; ;;\n;;;\n';
    const root = await project('', people);
    expect(await validate(root)).toEqual({ status: 0, said: ['csv-empty-columns 1', 'csv-empty-rows 3'] });
    const { out, err } = await handbillHere(root, ['preview', 'hello']);
    expect(out).toContain('| Hello Zoe');
    expect(err).toContain('2 columns without a name were left out');
    expect(err).toContain('3 rows without any value were left out.');
    const sent = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(sent.out).totals).toMatchObject({ recipients: 2, accepted: 2 });
  });

  it('has no value in a column without a name, and no comma too many', async () => {
    const root = await project('', 'msisdn,name,,\n+447400123456,Ada,,x\n+447400123457,Zoe, Dr,,\n+447400123458,Eve\n');
    expect(await validate(root)).toMatchObject({
      status: 2,
      said: ['csv-ragged-row 2', 'csv-ragged-row 3', 'csv-empty-columns 1'],
    });
  });

  it('may have only a header, which is reported; filled later, it is sent', async () => {
    const root = await project('', 'msisdn,name\n');
    expect(await validate(root)).toEqual({ status: 0, said: ['csv-no-rows 1'] });
    const first = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(JSON.parse(first.out).totals).toMatchObject({ recipients: 0 });
    await writeFile(join(root, 'hello/people.csv'), 'msisdn,name\n+447400123456,Ada\n');
    const then = await handbillHere(root, ['send', 'hello', '--format', 'json']);
    expect(then.err).toBe('');
    expect(JSON.parse(then.out).totals).toMatchObject({ recipients: 1, accepted: 1 });
    await writeFile(join(root, 'hello/people.csv'), 'msisdn,name\n+447400123457,Zoe\n');
    expect((await handbillHere(root, ['send', 'hello'])).err).toContain('error[input-changed]');
  });
});

describe('a list in UTF-8 that is declared as windows-1252', () => {
  const PEOPLE = 'msisdn,name\n+447400123456,Ada\n+447400123457,José\n+447400123458,André\n';

  it('is warned about by each command that reads it, because names would be wrong', async () => {
    const root = await project('encoding: windows-1252', PEOPLE);
    expect(await validate(root)).toMatchObject({ status: 0, said: expect.arrayContaining(['wrong-encoding 3']) });
    const preview = await handbillHere(root, ['preview', 'hello'], { width: 200 });
    expect(preview.out).toContain('| Hello JosÃ©');
    for (const { status, err } of [
      preview,
      await handbillHere(root, ['plan', 'hello'], { width: 200 }),
      await handbillHere(root, ['send', 'hello'], { width: 200 }),
    ]) {
      expect(status).toBe(0);
      expect(err).toMatch(
        /warning\[wrong-encoding\].*looks like UTF-8[\s\S]*people\.csv:3[\s\S]*`recipients\.encoding: utf-8`/,
      );
    }
  });
});

describe('a list in UTF-8 that was read as windows-1252 and saved again', () => {
  const project2 = (...names: readonly string[]): Promise<string> =>
    project('', `msisdn,name\n${names.map((name, i) => `+44740012345${i},${name}\n`).join('')}`);

  it.each([
    ['RenÃ©e'],
    ['donâ€™t'],
    ['Ã–zil'],
    ['FranÃ§ois'],
    ['MÃ¼ller'],
    ['Ã\u0081lvaro'],
    ['JesÃºs'],
    ['ZoÃ«'],
    ['vocÃª'],
    ['voilÃ !'],
    ['Â£5'],
    ['ðŸŽ‰'],
  ])('is warned about once, with the first line: %s', async (name) => {
    const root = await project2('Ada', name, name);
    expect((await validate(root)).said.filter((one) => one.startsWith('wrong'))).toEqual(['wrong-encoding 3']);
  });

  it.each([
    ['SÃO PAULO', 'MAÇÃ', '“MANHÃ”', 'MANHÃ… é', 'MANHÃ—TARDE', 'MAÇû, é', 'GALPÃ’s', 'joÃo', 'IRMÃ ªª'],
    ['Ângela', 'TÂM Â', 'Renée', '5 €', 'Ðuro', 'ŸNIS', 'âge', 'CÂ’s', '£5', 'Zoë', 'Nguyễn Ã'],
  ])('is not suspected in words of real languages: %s', async (...names) => {
    const root = await project2(...names.map((name) => `"${name}"`));
    expect((await validate(root)).said.filter((one) => one.startsWith('wrong'))).toEqual([]);
  });
});

it('an encoding that TextDecoder does not know is answered with some that it does', async () => {
  const hint = async (encoding: string): Promise<string> => {
    const root = await project(`encoding: ${encoding}`, 'msisdn,name\n+447400123456,Ada\n');
    const { err } = await handbillHere(root, ['validate', 'hello'], { width: 200 });
    await remove();
    return err;
  };
  expect(await hint('utf-9')).toContain('For example utf-8, windows-1252,');
  for (const label of ['utf8', 'latin1', 'cp1252', 'ISO-8859-1']) expect(await hint(label)).toBe('');
});
