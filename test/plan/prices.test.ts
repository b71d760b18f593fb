import { expect, it } from 'vitest';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { readPriceList } from '../../src/plan/estimate.ts';
import { createProject } from '../helpers/project.ts';

const LIST = 'country,price\r\nGB,0.04\r\n';

it.each<[label: string, list: string | Uint8Array, micros: readonly number[], codes: readonly string[]]>([
  ['with a byte order mark', `\uFEFF${LIST}`, [40_000], []],
  ['in UTF-16', Buffer.from(`\uFEFF${LIST}`, 'utf16le'), [], ['invalid-encoding prices.csv:1:1']],
  [
    'with a byte that is not UTF-8',
    Buffer.from(`${LIST}# caf\xe9\r\n`, 'latin1'),
    [],
    ['invalid-encoding prices.csv:3:6'],
  ],
  ['that is too large', LIST.padEnd(1024 * 1024 + 1), [], ['file-too-large prices.csv']],
])('a price list %s is read like any file that the project names', async (_label, list, micros, codes) => {
  using project = createProject({ 'handbill.yaml': 'prices: prices.csv\n', 'prices.csv': list });
  const { project: read } = readProject(findProject(project.root), { cwd: project.root });
  const { prices, diagnostics } = readPriceList(read);
  expect([...(prices?.micros.values() ?? [])]).toEqual(micros);
  expect(diagnostics.map(({ code, at }) => `${code} ${Object.values(at ?? {}).join(':')}`)).toEqual(codes);
});
