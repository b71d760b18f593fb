import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const files = globSync(['src/**/*.ts', 'test/**/*.ts', '.scripts/*.ts'], { cwd: root });
const checked = files.filter((file) => file !== 'test/house/named-files.test.ts');

it('comments name no file that is gone: `(send/deliver.ts)`, `(commits.ts)`', () => {
  const named = checked.flatMap((file) =>
    namesIn(readFileSync(join(root, file), 'utf8')).map((name) => ({ file, name })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ name }) => !files.some((one) => `/${one}`.endsWith(`/${name}`)))).toEqual([]);
});

it('finds the names in comments, and not those in code', () => {
  const text = "/** As there (send/gone.ts). */\nimport './a.ts'; // see (b.ts, rule 3)\nrun('(c.ts)');";
  expect(namesIn(text)).toEqual(['send/gone.ts', 'b.ts']);
});

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:\/\/|\*)[^\n']*?\(([a-z0-9-]+(?:\/[a-z0-9-]+)*\.ts)[,)]/g)].map(([, name = '']) => name);
}
