import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = readJson('package.json') as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

describe('no dependency is older than the version that mended a known hole', () => {
  it.each<[name: string, floor: string]>([
    ['handlebars', '4.7.9'],
    ['yaml', '2.8.3'],
    ['csv-parse', '7.0.2'],
    ['ajv', '8.18.0'],
    ['fast-uri', '3.1.7'],
    ['undici', '8.5.0'],
  ])('%s is at least %s', (name, floor) => {
    const copies = lockedVersions(name);
    expect(copies.length).toBeGreaterThan(0);
    expect(copies.filter((version) => isOlder(version, floor))).toEqual([]);
  });

  it('SQLite is at least 3.51.3', () => {
    using db = new DatabaseSync(':memory:');
    const version = String(db.prepare('select sqlite_version() as version').get()?.['version']);
    expect(isOlder(version, '3.51.3'), version).toBe(false);
  });

  it.each<[version: string, floor: string, older: boolean]>([
    ['3.9.0', '3.10.0', true],
    ['3.10.0', '3.9.9', false],
    ['3.1.6', '3.1.7', true],
    ['3.1.7', '3.1.7', false],
    ['4.0.0', '3.1.7', false],
    ['3.1.7-rc.1', '3.1.7', true],
  ])('%s against %s', (version, floor, older) => {
    expect(isOlder(version, floor)).toBe(older);
  });
});

test('direct dependencies are pinned to one version', () => {
  const loose = Object.entries(directDependencies()).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('every direct dependency is in docs/internals/dependencies.md with its reason', () => {
  const reasons = reasonsByName(readFileSync(join(root, 'docs/internals/dependencies.md'), 'utf8'));
  const names = Object.keys(directDependencies());
  expect(names.filter((name) => (reasons.get(name) ?? '').length < 10)).toEqual([]);
});

test('the table of reasons is read row by row', () => {
  const reasons = reasonsByName(
    '| name | reason |\n|---|---|\n| `yaml` 2 | keeps the positions |\n| `a`, `@b/c` | both |\n',
  );
  expect(Object.fromEntries(reasons)).toEqual({ yaml: 'keeps the positions', a: 'both', '@b/c': 'both' });
});

function directDependencies(): Record<string, string> {
  return { ...manifest.dependencies, ...manifest.devDependencies };
}

/** The versions of all copies of a package that the lock file installs, nested ones too. */
function lockedVersions(name: string): string[] {
  const { packages } = readJson('package-lock.json') as { packages: Record<string, { version?: string }> };
  return Object.entries(packages)
    .filter(([path]) => path.endsWith(`node_modules/${name}`) && !path.endsWith(`/@types/node_modules/${name}`))
    .map(([, { version }]) => version ?? '0.0.0');
}

/** Compares the three numbers; a pre-release comes before its release. */
function isOlder(version: string, floor: string): boolean {
  const [numbers = '', preRelease] = version.split('-', 2);
  const [have, want] = [numbers.split('.').map(Number), floor.split('.').map(Number)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (have[index] ?? 0) - (want[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return preRelease !== undefined;
}

/** The rows of Markdown tables whose first cell names packages in code marks; the last cell is the reason. */
function reasonsByName(markdown: string): Map<string, string> {
  const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
  return new Map(
    rows.flatMap((row) => {
      const cells = row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const names = [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
      return names.map((name) => [name, cells.at(-1) ?? ''] as const);
    }),
  );
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}
