import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { WORKER_METRICS } from '../../src/telemetry/workers-text.ts';
import { handbillHere } from '../commands/in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs/workers.md'), 'utf8');

const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

/** Whatever the page calls handbill with, in a shell, a manifest or a unit. */
function calls(): readonly (readonly string[])[] {
  const lines = BLOCKS.flatMap(({ text }) => [...text.matchAll(/(?:npx )?handbill ((?:worker|send|due)\b[^\n#]*)/g)]);
  const lists = BLOCKS.flatMap(({ text }) => [...text.matchAll(/\[npx, handbill, ([^\]]+)\]/g)]);
  return [
    ...lines.map(([, line = '']) => line.trim().split(/\s+/)),
    ...lists.map(([, list = '']) => list.split(',').map((one) => one.trim().replaceAll("'", ''))),
  ];
}

it('shows manifests that are YAML', () => {
  const found = BLOCKS.filter(({ language }) => language === 'yaml').flatMap(({ text }) => parseAllDocuments(text));
  expect(found.length).toBe(3);
  for (const document of found) expect(document.errors).toEqual([]);
  expect(found.map((document) => document.get('kind'))).toEqual(['Deployment', 'CronJob', undefined]);
});

it('calls handbill with options that there are', async () => {
  const all = calls();
  expect(all.length).toBeGreaterThanOrEqual(6);
  const helps = new Map<string, string>();
  for (const [command = '', ...args] of all) {
    const out = helps.get(command) ?? (await handbillHere(ROOT, [command, '--help'])).out;
    helps.set(command, out);
    for (const option of args.filter((arg) => arg.startsWith('--'))) {
      expect(out, `${command} ${option}`).toMatch(new RegExp(`(?<![\\w-])${option}(?![\\w-])`));
    }
  }
});

it('explains every figure', () => {
  const rows = [...PAGE.matchAll(/^\| `(handbill_\w+)` \| ([^|]+) \|$/gm)].map(([, name, help]) => [name, help]);
  expect(rows).toEqual(Object.entries(WORKER_METRICS));
});
