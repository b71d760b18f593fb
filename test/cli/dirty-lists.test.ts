import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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
  type Said = { code: string; message: string; hint?: string; line?: number };
  const { diagnostics } = JSON.parse(out) as { diagnostics: readonly Said[] };
  return {
    root: made.root,
    said: diagnostics.map(({ code, message, line }) => `${code}:${line ?? '-'} ${message}`),
    hints: diagnostics.map(({ hint }) => hint ?? '').join('\n'),
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

describe('blanks at the ends of values', () => {
  it.each([
    ['a line end', '"Ada\n"', 'U+000A'],
    ['a tab', '"\tAda"', 'U+0009'],
    ['a blank', '"Ada "', 'U+0020'],
    ['NBSP', 'Ada\u00a0', 'U+00A0'],
    ['ZERO WIDTH SPACE', 'Ada\u200b', 'U+200B'],
    ['a joiner', 'Ada\u200d', 'U+200D'],
    ['a mark of direction', '\u200eAda', 'U+200E'],
    ['a soft hyphen', 'Ada\u00ad', 'U+00AD'],
    ['a control', '\u001fAda', 'U+001F'],
    ['a Hangul filler', 'Ada\u3164', 'U+3164'],
    ['the mark of an object', '\ufffcAda', 'U+FFFC'],
  ])('%s is warned about once, with the first line; `trim` leaves it out', async (_, cell, code) => {
    const found = await preview(rows('Bo', cell, cell), 'Hi {{name}}, hello');
    const padded = found.said.filter((one) => one.startsWith('blank-ends'));
    expect(padded).toHaveLength(1);
    expect(padded[0]).toContain('blank-ends:3 2 values of the column "name" ');
    expect(padded[0]).toContain(`: ${code} in line 3.`);
    expect(found.hints).toContain('{{trim name}}');
    const trimmed = await preview(rows('Bo', cell), 'Hi {{trim name}}, hello');
    expect(trimmed.texts).toEqual(['Hi Bo, hello', 'Hi Ada, hello']);
    expect(trimmed.said.join()).not.toContain('blank-ends');
  });

  it('says nothing of what belongs to a letter, an emoji or a flag, or of what no message shows', async () => {
    const flag = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
    const kept = await preview(rows('❤️', flag, 'രാജന്\u200d', 'A B'), 'Hi {{name}}');
    expect(kept.said.filter((one) => one.startsWith('blank-ends'))).toEqual([]);
    const unused = await preview(rows('Ada '), "{{#if (eq name 'Ada')}}yes{{else}}no{{/if}}");
    expect(unused.texts).toEqual(['yes']);
    expect(unused.said).toEqual([]);
  });

  it.each(['\u200b\u200b', '\u2060', '"\u001f"', '\u00ad', '\u3000\u200e', '\u2800', '\ufffc'])(
    'a cell of %j is empty',
    async (cell) => {
      const found = await preview(rows(cell), 'Hi {{name}}');
      expect(found.said[0]).toMatch(/^missing-variable:2 The column "name" is empty/);
      expect((await preview(rows(cell), "Hi {{default name 'there'}}")).texts).toEqual(['Hi there']);
    },
  );
});

describe('names of columns', () => {
  it.each([
    ['a line end', '"First\nname"'],
    ['CR LF', '"First\r\nname"'],
    ['NBSP', 'First\u00a0name'],
    ['two blanks', 'First  name'],
    ['a zero width space', 'First\u200b name'],
    ['a byte order mark in the middle', '\ufeffFirst name'],
    ['a mark of direction', '\u200eFirst name\u200f'],
    ['a soft hyphen', 'Fir\u00adst name'],
    ['a formula', '"=""First name"""'],
  ])('%s is the name that people type', async (_, header) => {
    const found = await preview(`${header},msisdn\nAda,07400123456\n`, 'Hi {{[First name]}}');
    expect([found.texts, found.said]).toEqual([['Hi Ada'], []]);
  });

  it('of the address, of keys and of types are compared so too', async () => {
    const list = '"Phone\nnumber",No\u00a0of visits,I\u200bd\n07400123456,3,a\n';
    const settings =
      'to: Phone number, key: Id, columns: { No of visits: number }, where: { No of visits: { $gt: 2 } }';
    expect((await preview(list, 'Hi {{[No of visits]}}', settings)).texts).toEqual(['Hi 3']);
  });
});

describe('words for no value', () => {
  const ERRORS = [
    ...'#N/A #REF! #VALUE! #NAME? #DIV/0! #NULL! #NUM! #ERROR! ######## #NV #¡REF! #Н/Д'.split(' '),
    ...['#ΤΙΜΗ!', '#Δ/Υ', '#¡DESBORDAMIENTO!', '#DESPEJAR!', '#ПЕРЕНОС!', '#СТОЙНОСТ!', '#ІМ’Я?', '#N/A N/A', '#Error'],
    ...[
      '#SAKNAS!',
      '#Saknas!',
      '#PUUTTUU!',
      '#YOK!',
      '#NV!',
      '#HIÁNYZIK!',
      '#ÖVERSPILL!',
      '#DELENIE_NULOU!',
      '#UNBEKANNT!',
    ],
    ...['#CHARGEMENT_DONNEES', '#ПОЛЕ!', '#NO MATCH', '#UNPARSEABLE', '#ESTETTY!', '#ENGELLENDİ!', '#BLOQUÉ!', '#num!'],
    ...['Err:502', 'Fehler:502', 'Ошибка:502'],
    ...['#BEZUG!', '#ÜBERLAUF!', '#ΑΝΑΦ!', '#ИМЯ?', '#DELING.DOOR.0!', '#N/D!', '#ДЕЛ/0!', '#ZÉRÓOSZTÓ!', '#¿NOMBRE?'],
  ];

  it('refuse each row whose message shows an error value', async () => {
    const { said } = await validate(rows('Ada', ...ERRORS), 'Hi {{name}}');
    const what = 'an error value of a spreadsheet, and the template needs it.';
    expect(said).toEqual(
      ERRORS.map((cell, at) => `missing-variable:${at + 3} The column "name" holds "${cell}", ${what}`),
    );
  });

  it.each([
    'NULL',
    'null',
    '(null)',
    'nan',
    'NaN',
    'None',
    'undefined',
    '\\N',
    '[object Object]',
    '00/01/1900',
    'undefined undefined',
    ...[
      '$NaN',
      'NaN-NaN-NaN',
      'Invalid Date',
      '(blank)',
      '(Leer)',
      '(en blanco)',
      '<none>',
      'Loading...',
      '%!s(<nil>)',
    ],
    ...['[object Undefined]', 'System.String[]', '-1.#IND', '30/12/1899', '01.01.0001 00:00:00'],
  ])('%s is warned about once', async (cell) => {
    const found = await validate(rows('Ada', cell, cell), 'Hi {{name}}');
    expect(found.said).toEqual([
      `damaged-value:3 The column "name" holds "${cell}", a word for no value, as 1 further row does: the message shows it.`,
    ]);
  });

  it('is replaced by `default`, is nothing to `if`, and does not fill a required column', async () => {
    for (const cell of ['#N/A', 'NULL', ' None ', '\\N', '########']) {
      const replaced = await preview(rows(cell), "Hi {{default name 'friend'}}{{#if name}}, {{name}}{{/if}}");
      expect([replaced.texts, replaced.said]).toEqual([['Hi friend'], []]);
      const required = await preview(rows(cell), 'Hi', 'columns: { name: { required: true } }');
      expect(required.said[0]).toMatch(/^column-type:2 The column "name" holds /);
    }
  });

  it('is a value where the column is said to hold it, and in names that people have', async () => {
    const said = 'columns: { name: { values: [None, Some], required: true } }';
    expect((await preview(rows('None'), "{{#if (eq name 'None')}}a{{/if}}", said)).texts).toEqual(['a']);
    const found = await preview(
      rows('Null', 'Nan', 'NA', 'Nona', '#1', '#SALE', '(Tom)', 'Room:502', 'Wait...', '1900-01-01', '#BLACK_FRIDAY'),
      'Hi {{name}}',
    );
    expect(found.said).toEqual([]);
  });

  it.each(['#SALE!', '#HOTDEAL!', '#WIN?', '#СКИДКА!'])(
    '%s, which a person may have written, is sent with a warning',
    async (cell) => {
      const found = await preview(rows('Ada', cell, cell), "Hi {{default name 'you'}}{{#if name}}!{{/if}}");
      expect(found.texts).toEqual(['Hi Ada!', `Hi ${cell}!`, `Hi ${cell}!`]);
      expect(found.said.filter((one) => one.startsWith('damaged'))).toEqual([
        `damaged-value:3 The column "name" holds "${cell}", which may be an error value of a spreadsheet, as 1 further row does: the message shows it.`,
      ]);
      expect((await preview(rows(cell), 'Hi', 'key: name')).said).toEqual([]);
    },
  );

  it('is no number and no date', async () => {
    const settings = 'columns: { name: number }, where: { name: { $exists: false } }';
    expect((await preview(rows('NULL', '5', 'NaN'), 'Hi', settings)).texts).toEqual(['Hi', 'Hi']);
    const wrong = await preview(rows('#N/A'), 'Hi', 'columns: { name: date }');
    expect(wrong.said).toEqual(['column-type:2 The column "name" holds "#N/A", an error value of a spreadsheet.']);
  });

  it.each([
    ['1.23457E+15', 'a number in scientific notation whose last digits a spreadsheet dropped'],
    ['1E+15', 'a number in scientific notation whose last digits a spreadsheet dropped'],
    ['1.23457E15', 'a number in scientific notation whose last digits a spreadsheet dropped'],
    ['1,23457e+15', 'a number in scientific notation whose last digits a spreadsheet dropped'],
    ['#REF!', 'an error value of a spreadsheet'],
    ['NULL', 'a word for no value'],
  ])('%s is no key', async (cell, words) => {
    const found = await validate(rows(`"${cell}"`), 'Hi', 'key: name');
    expect(found.said).toEqual([
      `empty-key:2 The column "name", which identifies the recipient (\`recipients.key\`), holds "${cell}", ${words}.`,
    ]);
    const several = await validate(rows(`"${cell}"`), 'Hi', 'key: [msisdn, name]');
    expect(several.said[0]).toMatch(/^empty-key:2/);
  });

  it('in a value, scientific notation is warned about, and an id such as 4e10 is not', async () => {
    const found = await preview(rows('1.00235E+12', '4e10'), 'Order {{name}}');
    expect(found.said).toHaveLength(1);
    expect(found.said[0]).toMatch(/^damaged-value:2 The column "name" holds "1.00235E\+12", a number/);
  });
});

describe('text that is still encoded', () => {
  it.each([
    ['Ren%C3%A9', '%C3%A9'],
    ['M%c3%bcller', '%c3%bc'],
    ['%E6%9D%8E', '%E6%9D%8E'],
    ['Ada%20Lovelace', '%20'],
    ['=?UTF-8?Q?Ren=C3=A9?=', '=?UTF-8?Q?'],
    ['Dr. =?iso-8859-1?b?UmVu6Q==?= Roe', '=?iso-8859-1?b?'],
  ])('%s is warned about, without the name', async (cell, part) => {
    const found = await validate(rows('Ada', cell, cell), 'Hi {{name}}');
    expect(found.said).toEqual([
      `damaged-value:3 The column "name" holds "${part}", text that is still encoded for a link or an email, as 1 further row does: the message shows it.`,
    ]);
  });

  it('is not what belongs into a link, nor a percentage', async () => {
    const cells = [
      ...['https://a.example/Ren%C3%A9', 'a.example/x%20y', '?q=Ren%C3%A9', 'ren%C3%A9@a.example', '100%', '50%20off'],
      ...['%C3', '%A9%C3', '=?', 'What?=?Q?', 'A%2B'],
    ];
    expect((await validate(rows(...cells), 'Hi {{name}}')).said).toEqual([]);
  });

  it('belongs into a link', async () => {
    const links = await preview(rows('Ren%C3%A9', '#SALE!'), 'See https://a.example/{{name}}');
    expect(links.said.filter((one) => one.startsWith('damaged'))).toEqual([expect.stringContaining('#SALE!')]);
    const both = await preview(rows('Ren%C3%A9'), 'Hi {{name}}, see https://a.example/?n={{url name}}');
    expect(both.said).toEqual([expect.stringContaining('"%C3%A9"')]);
  });
});

describe('formulas that keep a zero', () => {
  it.each([
    ['in quotes', '"=""0042"""', '0042'],
    ['without', '="0042"', '0042'],
    ['with a sign', '="+42 7"', '+42 7'],
    ['with quotes inside', '"=""5"""" screen"""', '5" screen'],
    ['empty', '=""', ''],
    ['without, with quotes inside', '="5"" screen"', '5" screen'],
    ['between blanks', ' = "0042" ', '0042'],
    ['of T', '=T("0042")', '0042'],
  ])('%s are the value', async (_, cell, value) => {
    const found = await preview(`msisdn,name,b\n="07400123456",${cell},x\n`, '<{{#if name}}{{name}}{{/if}}>{{b}}');
    expect([found.texts, found.said]).toEqual([[`<${value}>x`], []]);
  });

  it('at the end of a row, of a file and with semicolons', async () => {
    expect((await preview('name;msisdn\nAda;="07400123456"\nBo;="07400123457"', 'Hi {{name}}')).texts).toEqual([
      'Hi Ada',
      'Hi Bo',
    ]);
  });

  it.each([
    ['a quote inside', 'a"b', 'A quote is inside a value'],
    ['something behind it', '="0042"x', 'A quote is inside a formula'],
    ['a delimiter inside', '="00,42"', 'A quote is inside a formula'],
    ['a blank before a quote', ' "0042"', 'A blank is before the quote'],
  ])('%s is a fault of the list still', async (_, cell, words) => {
    const found = await preview(`msisdn,name\n07400123456,${cell}\n07400123457,Bo\n`, 'Hi {{name}}');
    expect(found.said[0]).toMatch(new RegExp(`^csv-syntax:2 ${words}`));
  });
});

describe('one comparison', () => {
  it.each([
    ['a blank at the end', 'Zürich '],
    ['NBSP inside', 'Bad\u00a0Ems', 'Bad Ems'],
    ['another form of ü', 'Zu\u0308rich'],
    ['what shows nothing', 'Zür\u200bich'],
    ['two blanks', 'Bad  Ems', 'Bad Ems'],
  ])('%s: `where`, `eq` and variants agree', async (_, cell, city = 'Zürich') => {
    const text = `{{#if (eq name '${city}')}}in{{else}}out{{/if}}{{#if (ne name '${city}')}}!{{/if}}`;
    const found = await preview(rows(cell, 'Bern'), text, `where: { name: ${city} }`);
    expect([found.texts, found.said]).toEqual([['in'], []]);
  });
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

  it.each([
    ['U+FFFD', 'Ren\ufffde'],
    ['U+0081', 'M\u0081ller'],
    ['U+009F', '\u009f'],
  ])('%s is the mark of a list that was read wrongly before', async (code, cell) => {
    const found = await preview(rows('Ada', cell, cell), 'Hi {{name}} x');
    expect(found.said.filter((one) => one.startsWith('wrong-encoding'))).toEqual([
      expect.stringMatching(new RegExp(`^wrong-encoding:3 The list holds ${code.replace('+', '\\+')}, `)),
    ]);
  });

  it.each([
    ['ï¿½', 'Renï¿½e'],
    ['Å‚', 'PaweÅ‚'],
    ['Î‘Î¸', 'Î‘Î¸Î·Î½Î¬'],
    ['РђРЅРЅ', 'РђРЅРЅР°'],
    ['вЂ™', 'OвЂ™Brien'],
    ['√©', 'Ren√©'],
    ['├®', 'Jos├®'],
    ['Àííà', 'Àííà'],
    ['enŽe', 'RenŽe'],
    ['M?ller', 'M?ller'],
    ['n\u001a', 'Ren\u001ae'],
    ['?????', '?????'],
  ])('%s is read in a wrong encoding', async (part, cell) => {
    const found = await preview(rows('Ada', cell), 'Hi {{name}} x');
    const said = found.said.filter((one) => one.startsWith('wrong-encoding'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(`The list holds "${part}"`);
  });

  it('says nothing of words that people write', async () => {
    const words = 'IRMÃ CONCEIÇÃO TOMÁŠ LÍŠKA Ёлка Її РІСТ MĂRGINEAN “café”… «É» Why? ???'.split(' ');
    const more = [
      'Éàé',
      'Łódź',
      'Nguyễn',
      'Şükrü',
      '√2',
      'Ÿ',
      'À la carte',
      'a?b=c',
      'Ђурић',
      'Ђорђевић',
      '日本',
      'l’été',
      'Ada\u001a',
    ];
    const found = await preview(rows(...words, ...more), 'Hi {{name}} x');
    expect(found.said.filter((one) => one.startsWith('wrong-encoding'))).toEqual([]);
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
    ['macintosh', 'windows-1252', 'José', 'Jürgen', 'Gómez'],
    ['macintosh', 'windows-1250', 'José', 'Großmann'],
    ['windows-1252', 'macintosh', 'René', 'Jörg', 'François'],
    ['iso-8859-2', 'windows-1250', 'Šárka'],
  ])(
    'a list in %s that is declared as %s is refused, and read where it is declared as it is',
    async (wrote, declared, ...names) => {
      for (const name of names) {
        const list = encoded(rows(name), wrote);
        const { said, hints } = await validate(list, 'Hi {{name}}', `encoding: ${declared}`);
        expect(
          said.filter((one) => one.includes('encoding')),
          name,
        ).toEqual([expect.stringMatching(/^(?:wrong|invalid)-encoding:2 /)]);
        expect(hints).toMatch(/koi8-r, macintosh.*UTF-8|UTF-8.*koi8-r, macintosh/);
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

  it('finds UTF-8 that is read in any code page', async () => {
    const found = await preview(rows('René', 'Ада'), 'Hi {{name}}', 'encoding: windows-1251');
    expect(found.said).toContain('wrong-encoding:2 The list looks like UTF-8, but is read as windows-1251.');
  });
});

describe('date-times without a zone', () => {
  const visits = (...cells: string[]): string =>
    `msisdn,visit\n${cells.map((cell, i) => `07400123${456 + i},"${cell}"\n`).join('')}`;

  it.each([
    '2026-11-27 09:30:00',
    '2026-11-27T09:30',
    '2026-11-27 9:30',
    '2026-11-27 09:30:00.000',
    '2026-11-27T09:30:00.123456',
  ])('%s is a date, read on the clock of the campaign', async (cell) => {
    const settings = (where: string) => `columns: { visit: date }, where: { visit: ${where} }`;
    const found = await preview(visits(cell), "{{date visit 'time'}}", settings('{ $on: 2026-11-27 }'));
    expect([found.texts, found.said]).toEqual([['09:30'], []]);
  });

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

  it('of a format has the same zone', async () => {
    const settings =
      "columns: { visit: { type: date, format: 'd MMM yyyy h:mm a' } }, where: { visit: { $on: 2026-11-27 } }";
    const found = await preview(
      visits('27 Nov 2026 11:30 PM', '28 Nov 2026 0:10 AM'),
      "{{date visit 'HH:mm'}}",
      settings,
    );
    expect(found.said[0]).toMatch(/^column-type:3/);
    const right = await preview(visits('27 Nov 2026 11:30 PM'), "{{date visit 'HH:mm'}} {{visit}}", settings);
    expect(right.texts).toEqual(['23:30 2026-11-27T23:30']);
  });
});

describe('a title above the header', () => {
  const LIST =
    'Export Mietsystem / Rent arrears, as at 24/11/2026\r\n"unclosed\r\n\r\nTenant,Mobile,Rent\r\nAda,07400123456,"1.234,50"\r\n,07400123457,5\r\n';

  it('is passed over, and lines stay those of the file', async () => {
    const found = await preview(LIST, 'Hi {{Tenant}}', 'to: Mobile, headerRow: 4');
    expect(found.texts).toEqual(['Hi Ada']);
    expect(found.said).toEqual([expect.stringMatching(/^missing-variable:6 /)]);
  });

  it.each([
    ['Rent arrears\nTenant,Mobile\nAda,07400123456\n', 2],
    ['Rent arrears;;\n;;\nTenant;Mobile;Rent\nAda;07400123456;1\n', 3],
    [';Rent;\n\nTenant;Mobile;Rent\nAda;07400123456;1\n', 3],
    ['Rent,Rent\n"Tenant","Mobile"\nAda,07400123456\n', 2],
  ])('%j: the error says where the header is', async (list, line) => {
    const found = await preview(list, 'Hi {{Tenant}}', 'to: Mobile');
    expect(found.hints).toContain(`Line ${line} looks like the header: set \`recipients.headerRow: ${line}\`.`);
    expect((await preview(list, 'Hi {{Tenant}}', `to: Mobile, headerRow: ${line}`)).texts).toEqual(['Hi Ada']);
  });

  it('says nothing of it where no line looks so, and where there is no such line', async () => {
    expect((await preview('a,b\n1,2\n', 'Hi', 'to: Mobile')).hints).not.toContain('headerRow');
    const none = await preview('a,b\n1,2\n', 'Hi', 'to: Mobile, headerRow: 9');
    expect(none.said[0]).toMatch(/^csv-no-header:9 .* nothing on line 9/);
  });

  it('works with faults of the list, a separator and CR', async () => {
    const found = await preview(
      'sep=;\rTitle, "x\rmsisdn;name\r07400123456;Ada\r07400123457;a"b\r',
      'Hi {{name}}',
      'headerRow: 3',
    );
    expect(found.said).toEqual([expect.stringMatching(/^csv-syntax:5 /)]);
  });
});

describe('decimal commas', () => {
  const rents = (...cells: string[]): string =>
    `msisdn;rent\n${cells.map((cell, i) => `07400123${456 + i};${cell}\n`).join('')}`;
  const COMMA = 'columns: { rent: { type: number, decimal: "," } }';

  it.each([
    ['1.234,50', '1234.50'],
    ['1 234 567,5', '1234567.5'],
    ['1\u00a0234,50', '1234.50'],
    ["1'234,50", '1234.50'],
    ['99,99', '99.99'],
    ['-1.234', '-1234'],
    ['42', '42'],
  ])('%s', async (cell, plain) => {
    const found = await preview(rents(cell), '{{rent}} {{number rent}}', COMMA);
    expect(found.said).toEqual([]);
    expect(found.texts[0]?.split(' ')[0]).toBe(plain);
  });

  it.each(['1.23', '1,234.50', '1.2345,00', '€ 99,99', '1.234 567,00', '12.', ',5'])('%s is none', async (cell) => {
    const found = await preview(rents(cell), '{{rent}}', COMMA);
    expect(found.said[0]).toMatch(/^column-type:2 The column "rent" holds .*, not a number as 1\.234,50\.$/);
  });

  it('are compared as numbers, and points may be said too', async () => {
    const more = 'where: { rent: { $gt: 1000 } }';
    expect((await preview(rents('1.000,00', '1.000,01'), 'x{{rent}}', `${COMMA}, ${more}`)).texts).toEqual([
      'x1000.01',
    ]);
    const point = 'columns: { rent: { type: number, decimal: "." } }';
    expect((await preview(rents('1,234.50'), '{{rent}}', point)).texts).toEqual(['1234.50']);
  });

  it('what is not said is answered with what to say', async () => {
    const typed = await preview(rents('1.234,50'), '{{rent}}', 'columns: { rent: number }');
    const untyped = await preview(rents('1.234,50'), '{{currency rent "EUR"}}');
    for (const { hints } of [typed, untyped]) {
      expect(hints).toContain('`recipients.columns: { rent: { type: number, decimal: "," } }`');
    }
    const wrong = await preview(rents('1'), 'x', 'columns: { rent: { type: string, decimal: "," } }');
    expect(wrong.said[0]).toMatch(/^invalid-value:5 "recipients.columns.rent.decimal" is for numbers only/);
  });
});

describe('duplicates without a key', () => {
  it('`keep` is refused with what it needs, and the hint of a duplicate names it', async () => {
    const kept = await preview(rows('Ada'), 'Hi', 'duplicates: keep');
    expect(kept.said[0]).toMatch(/^invalid-value:5 "recipients.duplicates: keep" needs "recipients.key"/);
    const twice = await preview('msisdn,name\n07400123456,Ada\n07400123456,Bo\n', 'Hi {{name}}');
    expect(twice.said[0]).toMatch(/^duplicate-differs:3/);
    expect(twice.hints).toContain('`recipients.key');
  });
});
