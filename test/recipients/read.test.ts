import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { appendFile, chmod, mkdir, open, symlink, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it, test } from 'vitest';
import type { HandbillError } from '../../src/errors.ts';
import type { ListSpec } from '../../src/model.ts';
import { hashList, openList } from '../../src/recipients/read.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
import { places, readAll, refusal, specOf, useLists, utf16 } from './lists.ts';

const lists = useLists();

interface Accepted {
  readonly label: string;
  readonly content: string | Uint8Array;
  readonly settings?: Partial<ListSpec>;
  /** Default: one row, `+447700900123` and `Zoë`, on line 2. */
  readonly values?: readonly (readonly string[] | null)[];
  readonly lines?: readonly number[];
  readonly columns?: readonly string[];
}

const ZOE = ['+447700900123', 'Zoë'];
const USUAL = 'msisdn,name\n+447700900123,Zoë\n';

const ACCEPTED: readonly Accepted[] = [
  { label: 'UTF-16LE with a mark, tabs (Excel "Unicode text")', content: utf16(USUAL.replaceAll(',', '\t'), 'le') },
  { label: 'UTF-16BE with a mark', content: utf16(USUAL, 'be') },
  {
    label: 'UTF-16LE without a mark, when asked for',
    content: utf16(USUAL, 'le', false),
    settings: { encoding: 'utf-16le' },
  },
  {
    label: 'windows-1252, when asked for',
    content: Buffer.from('msisdn,name\n+447700900123,Zo\xeb \x80 5\n', 'latin1'),
    settings: { encoding: 'windows-1252' },
    values: [['+447700900123', 'Zoë € 5']],
  },
];

// Pieces of three bytes put every boundary everywhere: inside characters, CRLF, quotes, the mark.
golden('a list is read, or refused at its place, in pieces of any size', 'recipients/lists', async (input) => {
  const [settings = '', ...content] = input.split('\n');
  const spec = await lists.write(content.join('\n'), JSON.parse(settings));
  const said = async (pieceBytes?: number): Promise<string> => {
    const { columns, headerLine, rows } = await readAll(spec, pieceBytes === undefined ? {} : { pieceBytes });
    const lines = rows.map(({ line, values, fault }) => `${line}: ${values === null ? fault : JSON.stringify(values)}`);
    return [`${headerLine}: ${columns.join(' | ')}`, ...lines].join('\n');
  };
  const read = await Promise.all(
    [undefined, 3, 7].map((bytes) =>
      said(bytes).catch((error: HandbillError) => diagnosticLines(error.diagnostics, 'people.csv').join('\n')),
    ),
  );
  return [...new Set(read)].flatMap((one) => one.split('\n'));
});

describe('lists that are read', () => {
  test.each(ACCEPTED)('$label', async ({ content, settings, values = [ZOE], lines = [2], columns }) => {
    const spec = await lists.write(content, settings);
    for (const pieceBytes of [undefined, 3, 7]) {
      const list = await readAll(spec, pieceBytes === undefined ? {} : { pieceBytes });
      expect(list.rows.map((row) => row.values)).toEqual(values);
      expect(list.rows.map((row) => row.line)).toEqual(lines);
      expect(list.rows.map((row) => row.row)).toEqual(values.map((_, i) => i));
      if (columns !== undefined) expect(list.columns).toEqual(columns);
    }
  });

  it('says how a ragged row differs', async () => {
    const { rows } = await readAll(await lists.write('a,b,c\n1\n1,2,3,4\n'));
    expect(rows.map((row) => row.fault)).toEqual(['has 1 field, the header has 3', 'has 4 fields, the header has 3']);
  });

  it('says where the header is', async () => {
    expect((await readAll(await lists.write('sep=;\n\na;b\n1;2'))).headerLine).toBe(3);
  });

  it('counts its rows', async () => {
    const list = await openList(await lists.write('a\n1\n2\n3'));
    expect(list.count()).toBe(0);
    for await (const _ of list.rows());
    expect(list.count()).toBe(3);
  });
});

interface Refused {
  readonly label: string;
  readonly content: string | Uint8Array;
  readonly settings?: Partial<ListSpec>;
  readonly found: readonly string[];
  readonly says?: RegExp;
}

const MIB = 1024 * 1024;

const REFUSED: readonly Refused[] = [
  {
    label: 'invalid UTF-8 in a row',
    content: Buffer.concat([Buffer.from('a,b\n1,"x\ny"\n'), Buffer.from([0x32, 0x2c, 0xff, 0x0a])]),
    found: ['invalid-encoding 4:-'],
    says: /CSV UTF-8.*recipients\.encoding/,
  },
  {
    label: 'windows-1252 without the setting',
    content: Buffer.from('a\nZo\xeb', 'latin1'),
    found: ['invalid-encoding 2:-'],
  },
  {
    label: 'UTF-8 cut off in a character',
    content: Buffer.from('a\nZoë').subarray(0, -1),
    found: ['invalid-encoding 2:-'],
  },
  { label: 'overlong UTF-8', content: Buffer.from([0x61, 0x0a, 0xc0, 0xaf]), found: ['invalid-encoding 2:-'] },
  { label: 'UTF-16 with half a pair', content: utf16('a\n\ud800x', 'le'), found: ['invalid-encoding 2:-'] },
  {
    label: 'UTF-16 with an odd byte',
    content: Buffer.concat([utf16('a\nb', 'be'), Buffer.from([0])]),
    found: ['invalid-encoding 2:-'],
  },
  {
    label: 'invalid UTF-8 after CR line ends',
    content: Buffer.from([0x61, 13, 0x62, 13, 0xff]),
    found: ['invalid-encoding 3:-'],
  },
  {
    label: 'UTF-16 without the setting',
    content: utf16('a,b\n1,2\n', 'le', false),
    found: ['csv-nul 1:-'],
    says: /utf-16le/,
  },
  {
    label: 'an Excel workbook',
    content: Buffer.from('PK\x03\x04rest'),
    found: ['invalid-encoding -:-'],
    says: /Excel/,
  },
  {
    label: 'a workbook of Excel 97 to 2003',
    content: Buffer.from('\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', 'latin1'),
    found: ['invalid-encoding -:-'],
    says: /an Excel workbook/,
  },
  ...[
    ['HTML', '\ufeff\n <TABLE><tr><td>msisdn</td></tr></TABLE>\n'],
    ['XML', '<?xml version="1.0"?>\n<Workbook/>\n'],
    ['PDF', '%PDF-1.4\n'],
    ['JSON', '[{"msisdn":"+447400123456"}]\n'],
    ['SQLite', 'SQLite format 3\0\n'],
    ['git lfs pull', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n'],
  ].map(([says = '', content = '']) => ({
    label: `another kind of file: ${says}`,
    content,
    found: ['invalid-encoding -:-'],
    says: new RegExp(says),
  })),
  { label: 'gzip', content: Buffer.from([0x1f, 0x8b, 8, 0]), found: ['invalid-encoding -:-'], says: /gzip/ },
  {
    label: 'a stray quote far before anything closes it',
    content: `a,b\n1,5" x\n${'3,4\n'.repeat(MIB / 3)}`,
    found: ['csv-syntax 2:4'],
  },
  { label: 'a row over 1 MiB', content: `a,b\n1,2\n3,${'x'.repeat(MIB)}\n4,5\n`, found: ['csv-row-too-large 3:-'] },
  { label: 'an unclosed quote over 1 MiB', content: `a,b\n1,"${'x\n'.repeat(MIB)}`, found: ['csv-row-too-large 2:-'] },
];

describe('lists that are refused', () => {
  test.each(REFUSED)('$label', async ({ content, settings, found, says }) => {
    const spec = await lists.write(content, settings);
    const small = content.length < 1000 ? [{}, { pieceBytes: 3 }] : [{}];
    for (const options of small) {
      const diagnostics = await refusal(readAll(spec, options));
      expect(places(diagnostics)).toEqual(found);
      expect(diagnostics.every((d) => d.at?.file === 'people.csv' && d.hint !== undefined)).toBe(true);
      if (says !== undefined) expect(`${diagnostics[0]?.message} ${diagnostics[0]?.hint}`).toMatch(says);
    }
  });

  it('gives up on a row that is too large without reading on', async () => {
    const list = await openList(await lists.write(`a\n"${'x\n'.repeat(2 * MIB)}`));
    expect(places(await refusal(list.rows().next()))).toEqual(['csv-row-too-large 2:-']);
    expect(() => list.digest()).toThrow('after its last row');
  });

  it('takes a row of exactly 1 MiB', async () => {
    const { rows } = await readAll(await lists.write(`a,b\n1,${'x'.repeat(MIB - 2)}\n`));
    expect(rows[0]?.values?.[1]).toHaveLength(MIB - 2);
  });

  it('never shows a row, which holds personal data', async () => {
    const [found] = await refusal(readAll(await lists.write('a,b\n+447700900123,5" x\n')));
    expect(JSON.stringify(found)).not.toContain('900123');
  });
});

describe('files', () => {
  it('refuses what is not there', async () => {
    expect(places(await refusal(openList(specOf(lists.path('none.csv')))))).toEqual(['file-not-found -:-']);
  });

  it('refuses a file in place of a folder', async () => {
    const spec = await lists.write('a');
    expect(places(await refusal(openList({ ...spec, path: `${spec.path}/x.csv` })))).toEqual(['file-not-found -:-']);
  });

  it('refuses folders, pipes and devices without waiting', async () => {
    await mkdir(lists.path('folder.csv'));
    execFileSync('mkfifo', [lists.path('pipe.csv')]);
    await symlink(lists.path('pipe.csv'), lists.path('link.csv'));
    const paths = [lists.path('folder.csv'), lists.path('pipe.csv'), lists.path('link.csv'), '/dev/zero'];
    for (const path of paths) {
      expect(places(await refusal(openList(specOf(path))))).toEqual(['file-not-regular -:-']);
      expect(places(await refusal(hashList(specOf(path))))).toEqual(['file-not-regular -:-']);
    }
  });

  it.skipIf(process.getuid?.() === 0)('refuses what it may not read', async () => {
    const spec = await lists.write('a\n1');
    await chmod(spec.path, 0);
    expect(places(await refusal(openList(spec)))).toEqual(['file-unreadable -:-']);
  });

  it('refuses more than 4 GiB', async () => {
    const spec = await lists.write('a\n1');
    await truncate(spec.path, 4 * 1024 ** 3 + 1); // sparse: takes no space
    expect(places(await refusal(openList(spec)))).toEqual(['file-too-large -:-']);
  });
});

describe('the second reading', () => {
  /** More than two blocks of 1 MiB. */
  const ROWS = 10_500;
  const BIG = `msisdn,name\n${Array.from({ length: ROWS }, (_, i) => `+4477009${String(i).padStart(5, '0')},${'n'.repeat(202)}\n`).join('')}`;

  async function digestOf(spec: ListSpec) {
    const list = await openList(spec);
    for await (const _ of list.rows());
    return list.digest();
  }

  it('knows the bytes again', async () => {
    const spec = await lists.write(BIG);
    const digest = await digestOf(spec);
    expect(digest.sha256).toBe(createHash('sha256').update(BIG).digest('hex'));
    expect(digest.size).toBe(BIG.length);
    expect(digest.blocks).toHaveLength(Math.ceil(BIG.length / MIB));
    expect(await hashList(spec)).toEqual(digest);
    expect((await readAll(spec, { expected: digest })).rows).toHaveLength(ROWS);
  });

  it('gives the digest of an empty rest too', async () => {
    const spec = await lists.write('a,b');
    expect(await digestOf(spec)).toEqual(await hashList(spec));
  });

  it('hands out no row of a changed block', async () => {
    const spec = await lists.write(BIG);
    const expected = await digestOf(spec);
    const handle = await open(spec.path, 'r+');
    await handle.write('X', MIB + 100);
    await handle.close();
    const list = await openList(spec, { expected });
    let bytes = 0;
    const reading = (async () => {
      for await (const rows of list.rows()) for (const row of rows) bytes += (row.values?.join(',').length ?? 0) + 1;
    })();
    const found = await refusal(reading);
    expect(places(found)).toEqual(['input-changed -:-']);
    expect(found[0]?.message).toContain('people.csv');
    expect(bytes).toBeLessThan(MIB);
    expect(bytes).toBeGreaterThan(MIB / 2);
  });

  test.each([
    ['the header', (path: string) => writeFile(path, BIG.replace('name', 'nome'))],
    ['rows added', (path: string) => appendFile(path, '+447700900001,new\n')],
    ['rows removed', (path: string) => truncate(path, BIG.length - 216)],
    ['cut at the end of a block', (path: string) => truncate(path, 2 * MIB)],
    ['emptied', (path: string) => truncate(path, 0)],
    ['the last byte', (path: string) => writeFile(path, `${BIG.slice(0, -1)} `)],
  ])('refuses a change: %s', async (_, change) => {
    const spec = await lists.write(BIG);
    const expected = await digestOf(spec);
    await change(spec.path);
    expect(places(await refusal(readAll(spec, { expected })))).toEqual(['input-changed -:-']);
  });
});

describe('reading', () => {
  // Characters and CRLF across the boundary of two blocks of 1 MiB, where the buffer is used again.
  test.each([0, 1, 2, 3, 4, 5, 6])('keeps characters whole between blocks, moved by %i bytes', async (shift) => {
    // Rows of a KiB up to the boundary, and short ones around it.
    const rest = (i: number) => (i % 2 === 0 ? 'ë€' : '😀');
    const names = Array.from({ length: 21_000 }, (_, i) =>
      i < 1000 ? rest(i).repeat(i % 2 === 0 ? 200 : 250) : rest(i),
    );
    const { rows } = await readAll(await lists.write(`${'n'.repeat(shift + 1)}\r\n${names.join('\r\n')}\r\n`));
    expect(rows.length).toBe(names.length);
    expect(rows.every((row, i) => row.values?.[0] === names[i] && row.line === i + 2)).toBe(true);
  });

  it('goes at the pace of the consumer, and can stop anywhere', async () => {
    const spec = await lists.write(`a\n${'1\n'.repeat(100_000)}`);
    const list = await openList(spec);
    for await (const rows of list.rows()) {
      expect(rows.length).toBeGreaterThan(100);
      break;
    }
    expect(list.count()).toBeLessThan(50_000);
    expect(() => list.digest()).toThrow('after its last row');
    await list.close();
  });

  it('says so when the file cannot be read on', async () => {
    const list = await openList(await lists.write(`a\n${'1\n'.repeat(1_000_000)}`));
    await list.close();
    const reading = (async () => {
      for await (const _ of list.rows());
    })();
    expect(places(await refusal(reading))).toEqual(['file-unreadable -:-']);
  });

  it('gives its rows once', async () => {
    const list = await openList(await lists.write('a\n1'));
    for await (const _ of list.rows());
    await expect(list.rows().next()).rejects.toThrow('once');
  });

  it.skipIf(process.platform !== 'linux')('leaves no file open', async () => {
    const spec = await lists.write('a,b\n1,2\n3,5" x\n');
    // One that was listed may be closed by now.
    const nameOf = (fd: string) => (existsSync(`/proc/self/fd/${fd}`) ? readlinkSync(`/proc/self/fd/${fd}`) : '');
    const openFiles = () => readdirSync('/proc/self/fd').map(nameOf).join();
    await refusal(readAll(spec));
    await refusal(openList(await lists.write('a,a\n1,2\n')));
    await refusal(openList(await lists.write('')));
    await (await openList(await lists.write('a\n1'))).close();
    expect(openFiles()).not.toContain('handbill-recipients-');
  });
});

describe('a list that is declared as windows-1252', () => {
  const suspicion = async (content: string | Uint8Array): Promise<readonly string[]> => {
    const list = await openList(await lists.write(content, { encoding: 'windows-1252' }));
    for await (const _ of list.rows());
    return places(list.notes());
  };
  const rows = (count: number): string => `msisdn,name\r\n${`+447400123456,${'Ada'.repeat(40)}\r\n`.repeat(count)}`;
  const MIB = 1024 * 1024;

  it('is suspected to be UTF-8 where all of it is, with the line of the first such character', async () => {
    expect(await suspicion('msisdn,name\n1,Zoë\n2,José\n')).toEqual(['wrong-encoding 2:-']);
    expect(await suspicion('msisdn,prénom\n1,Zoe\n')).toEqual(['wrong-encoding 1:-']);
    expect(await suspicion('msisdn,name\n"1","a\n\nZoë 👋"\n2,€')).toEqual(['wrong-encoding 4:-']);
  });

  it('is not suspected without such characters, nor with one byte that is not UTF-8', async () => {
    expect(await suspicion('msisdn,name\n1,Zoe\n')).toEqual([]);
    expect(await suspicion(Buffer.from('msisdn,name\n1,Zo\xeb\n', 'latin1'))).toEqual([]);
    const mixed = Buffer.concat([Buffer.from('msisdn,name\n1,Zoë\n'), Buffer.from('2,Jos\xe9\n', 'latin1')]);
    expect(await suspicion(mixed)).toEqual([]);
    // The beginning of a character, at the end of the file.
    expect(await suspicion(Buffer.from('msisdn,name\n1,Jos\xe9', 'latin1'))).toEqual([]);
    expect(await suspicion(Buffer.concat([Buffer.from('a,b\nZoë,'), Buffer.from([0xc3])]))).toEqual([]);
  });

  it('is looked at to its end, across the blocks in which it is read', async () => {
    const ascii = rows(10_000);
    for (const moved of [1, 2, 3]) {
      // A character of three bytes lies across the end of the first block.
      const head = ascii.slice(0, ascii.lastIndexOf('\n', MIB - moved - 21) + 1);
      const split = `${head}1,${'x'.repeat(MIB - moved - head.length - 2)}€\n`;
      const line = head.split('\n').length;
      expect(await suspicion(split)).toEqual([`wrong-encoding ${line}:-`]);
      expect(await suspicion(Buffer.concat([Buffer.from(split + ascii), Buffer.from([0xe9, 0x0a])]))).toEqual([]);
    }
    expect(await suspicion(`${ascii}2,Zoë\n`)).toEqual(['wrong-encoding 10002:-']);
  });

  it('has its lines counted where a line end lies across two blocks', async () => {
    const filled = `msisdn,name\r\n1,${'x'.repeat(MIB - 13 - 2 - 1)}`;
    expect(Buffer.byteLength(filled)).toBe(MIB - 1);
    expect(await suspicion(`${filled}\r\n2,Zoë\r\n`)).toEqual(['wrong-encoding 3:-']);
  });
});
