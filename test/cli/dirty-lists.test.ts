import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { golden } from '../helpers/golden.ts';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

/** Lists as spreadsheets, databases and people make them: what is read, what is refused, and what is warned about. */

let remove = async (): Promise<void> => undefined;
afterEach(() => remove());

/** The warnings and errors about a list: `code:line message`. */
async function validate(list: string | Uint8Array, text: string, recipients = '') {
  const made = await projectWith({
    'c/campaign.yaml': `name: c
channel: sms
from: "447400999999"
template: { text: ${JSON.stringify(text)} }
recipients: { csv: people.csv, defaultCountry: GB${recipients === '' ? '' : `, ${recipients}`} }
`,
  });
  remove = made.remove;
  await writeFile(join(made.root, 'c/people.csv'), list);
  const { out } = await handbillHere(made.root, ['validate', 'c', '--format', 'json']);
  type Said = { code: string; message: string; hint: string | null; line?: number };
  const { diagnostics } = JSON.parse(out) as { diagnostics: readonly Said[] };
  return {
    root: made.root,
    said: diagnostics
      .filter(({ code }) => code !== 'unicode-message')
      .map(({ code, message, line, hint }) => `${code}:${line ?? '-'} ${message}${hint === null ? '' : ` (${hint})`}`),
  };
}

/** The texts of the messages too. */
async function preview(...given: Parameters<typeof validate>) {
  const { root, ...checked } = await validate(...given);
  const shown = await handbillHere(root, ['preview', 'c', '--format', 'jsonl']);
  const lines = shown.out.split('\n').filter((line) => line.startsWith('{'));
  const texts = lines
    .map((line) => JSON.parse(line) as { decision?: string; request?: { body: { body: { text?: string } } } })
    .filter(({ decision }) => decision === 'send')
    .map(({ request }) => request?.body.body.text ?? null);
  return { ...checked, texts };
}

const rows = (...cells: string[]): string =>
  ['msisdn,name', ...cells.map((cell, i) => `07400123${456 + i},${cell}`), ''].join('\n');

golden('a list is read as it was meant, or says what is wrong with it', 'cli/dirty-lists', async (input) => {
  const [text = '', settings = '', ...list] = input.split('\n');
  const { said, texts } = await preview(list.join('\n'), text, settings);
  await remove();
  return [...said, `sends ${JSON.stringify(texts)}`];
});

golden('a value that is damaged is named once, with its first line', 'cli/damaged-values', async (cell) => {
  const { said } = await validate(rows('Ada', cell, cell), 'Hi {{name}} x');
  await remove();
  return said;
});

/** Texts in a code page of one byte a character. */
function encoded(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
  return Buffer.from([...text].map((character) => bytes.get(character) ?? 0x3f));
}

describe('encodings', () => {
  it.each([
    ['macintosh', [0x52, 0x65, 0x6e, 0x8e], 'René'],
    ['windows-1250', [0x9a, 0xe8], 'šč'],
    ['windows-1251', [0xcf, 0xf0], 'Пр'],
    ['cp1253', [0xc1, 0xdd], 'Αέ'],
    ['latin1', [0xe9], 'é'],
    ['shift_jis', [0x8e, 0x52, 0x93, 0x63], '山田'],
    ['sjis', [0x83, 0x5c, 0x83, 0x7c], 'ソポ'],
    ['gbk', [0xd5, 0xc5], '张'],
    ['big5', [0xb1, 0x69], '張'],
    ['euc-kr', [0xb1, 0xe8], '김'],
    ['koi8-r', [0xf0], 'П'],
  ])('%s', async (label, bytes, name) => {
    const list = Buffer.concat([Buffer.from('msisdn,name\n07400123456,'), Buffer.from(bytes), Buffer.from('\n')]);
    const found = await preview(list, 'Hi {{name}}', `encoding: ${label}`);
    expect(found.texts).toEqual([`Hi ${name}`]);
  });

  it('reads characters of several bytes across the pieces of a file', async () => {
    const list = Buffer.concat([
      Buffer.from('msisdn,name\n'),
      ...Array.from({ length: 900 }, (_, i) =>
        Buffer.concat([Buffer.from(`07400${123456 + i},`), Buffer.from([0x83, 0x5c, 0x8e, 0x52]), Buffer.from('\n')]),
      ),
    ]);
    const found = await preview(list, 'Hi {{name}}', 'encoding: shift_jis');
    expect(found.texts).toHaveLength(900);
    expect(new Set(found.texts)).toEqual(new Set(['Hi ソ山']));
  });

  it.each([
    ['windows-1252', [0x4d, 0x81, 0x6c]],
    ['windows-1252', [0x8d]],
    ['windows-1250', [0x83]],
    ['windows-1253', [0xaa]],
    ['iso-8859-2', [0x9f]],
    ['shift_jis', [0x81, 0x20]],
  ])('%s: bytes that it does not define refuse the list, with the line', async (label, bytes) => {
    const list = Buffer.concat([
      Buffer.from(rows('Ada')),
      Buffer.from('07400123457,'),
      Buffer.from(bytes),
      Buffer.from('\n07400123458,\n'),
    ]);
    const found = await preview(list, 'Hi {{name}}', `encoding: ${label}`);
    expect(found.said[0]).toMatch(/^invalid-encoding:3 /);
    expect(found.said).toContainEqual(expect.stringMatching(/^missing-variable:4/));
  });

  it('asks whether the code page is right where letters are in no word', async () => {
    const list = Buffer.concat([Buffer.from('msisdn,name\n07400123456,Ren'), Buffer.from([0x8e]), Buffer.from('e\n')]);
    const found = await preview(list, 'Hi {{name}}', 'encoding: windows-1252');
    expect(found.said.join()).toContain('wrong-encoding:2 Read as windows-1252, the list holds "enŽe"');
  });

  /** By the code page that wrote a list, and the one that the campaign declares. */
  it.each([
    ['koi8-r', 'windows-1251', 'Иван', 'Ольга Петрова'],
    ['koi8-r', 'windows-1252', 'Иван'],
    ['windows-1251', 'koi8-r', 'Иван'],
    ['iso-8859-5', 'windows-1251', 'Иван'],
    ['ibm866', 'windows-1251', 'Иван'],
    ['x-mac-cyrillic', 'windows-1251', 'Иван'],
    ['macintosh', 'windows-1252', 'José', 'Jürgen'],
    ['macintosh', 'windows-1250', 'José', 'Großmann'],
    ['iso-8859-2', 'windows-1250', 'Šárka'],
  ])(
    'a list in %s that is declared as %s is refused, and read where it is declared as it is',
    async (wrote, declared, ...names) => {
      for (const name of names) {
        const list = encoded(rows(name), wrote);
        const { said } = await validate(list, 'Hi {{name}}', `encoding: ${declared}`);
        expect(
          said.filter((one) => one.includes('encoding')),
          name,
        ).toEqual([expect.stringMatching(/^(?:wrong|invalid)-encoding:2 /)]);
        expect(said.join()).toMatch(/koi8-r, macintosh.*UTF-8|UTF-8.*koi8-r, macintosh/);
        expect((await preview(list, 'Hi {{name}}', `encoding: ${wrote}`)).texts).toEqual([`Hi ${name}`]);
      }
    },
  );

  it('refuses what is misread at each command, and sends nothing', async () => {
    const { root } = await validate(encoded(rows('Иван'), 'koi8-r'), 'Hi {{name}}', 'encoding: windows-1251');
    for (const command of ['validate', 'preview', 'plan', 'send']) {
      const { status, err } = await handbillHere(root, [command, 'c']);
      expect([command, status]).toEqual([command, 2]);
      expect(err).toMatch(/error\[wrong-encoding\]/);
    }
  });

  it('takes a list that has an odd cell, with a warning', async () => {
    const right = ['Ольга', 'Иван', 'Анна'];
    for (const [encoding, ...cells] of [
      ['windows-1251', ...right, '50 кВА', 'мАРИЯ'],
      ['windows-1252', 'Zoë', 'JosÉ', 'Nike™shoes', 'Cher•e', 'Plan B—fertig', 'm³pro'],
      ['windows-1254', 'Çelik', '“Nutuk”un'],
    ] as const) {
      const { said } = await validate(encoded(rows(...cells), encoding), 'Hi {{name}}', `encoding: ${encoding}`);
      expect(said.filter((one) => one.includes('encoding'))).toEqual([expect.stringContaining('words rarely have')]);
      expect(
        (await preview(encoded(rows(...cells), encoding), 'Hi {{name}}', `encoding: ${encoding}`)).texts,
      ).toHaveLength(cells.length);
    }
  });

  it('is not misled by an odd cell before the garbled ones', async () => {
    const list = Buffer.concat([encoded(rows('Wh?t'), 'koi8-r'), encoded('07400123499,Иванов\n', 'koi8-r')]);
    const { said } = await validate(list, 'Hi {{name}}', 'encoding: windows-1251');
    expect(said.join()).toMatch(/wrong-encoding:3 Read as windows-1251/);
  });

  it('finds UTF-8 that is read in any code page', async () => {
    const found = await preview(rows('René', 'Ада'), 'Hi {{name}}', 'encoding: windows-1251');
    expect(found.said.join()).toContain('wrong-encoding:2 The list looks like UTF-8, but is read as windows-1251.');
  });
});

describe('date-times without a zone', () => {
  it('is compared in the zone of the campaign, and with its summer time', async () => {
    const made = await projectWith({
      'c/campaign.yaml': `name: c
channel: sms
from: Riverside
timeZone: Europe/Berlin
template: { text: "{{visit}}" }
recipients:
  csv: people.csv
  columns: { visit: date }
  where: { visit: { $gte: "2026-07-01T08:00:00Z", $lt: "2026-07-01 10:30" } }
`,
      'c/people.csv': `msisdn,visit\n+447400123456,2026-07-01 09:59:59\n+447400123457,2026-07-01 10:00\n+447400123458,2026-07-01 10:30:00\n`,
    });
    remove = made.remove;
    const { out } = await handbillHere(made.root, ['preview', 'c']);
    expect(out).toContain('line 3     +447400123457    send');
    expect(out).toContain('to send   1');
  });
});
