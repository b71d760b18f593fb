import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { ValidationDocument } from '../../src/cli/validate/findings.ts';
import { createGatherer } from '../../src/cli/validate/findings.ts';
import { formatGithub } from '../../src/cli/validate/github.ts';
import { formatJunit } from '../../src/cli/validate/junit.ts';
import { problem, warning } from '../../src/errors.ts';
import type { Validation } from '../../src/operations/validate.ts';
import { elementsOf, readXml } from '../helpers/xml.ts';
import { handbillHere } from './in-process.ts';
import { HELLO, projectWith } from './run-handbill.ts';
import { readCommands } from './validation-readers.ts';

const FORMATS = ['text', 'json', 'github', 'junit'];

const runValidate = (cwd: string, args: readonly string[]) => handbillHere(cwd, ['validate', ...args]);

let root = '';
let remove = async () => {};
beforeEach(async () => {
  ({ root, remove } = await projectWith(HELLO));
});
afterEach(() => remove());

const people = (text: string) => writeFileSync(join(root, 'campaigns/hello/people.csv'), text);
const BAD = 'msisdn,first\n12,Ann\n34,Bo\n';
const GOOD = 'msisdn,first\n+447911123456,Ann\n';

describe('-o', () => {
  test.each(FORMATS)('%s: the file holds what stdout would, and stderr what is wrong', async (format) => {
    people(BAD);
    const printed = await runValidate(root, ['--format', format]);
    const { status, out, err } = await runValidate(root, ['--format', format, '-o', 'result']);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(readFileSync(join(root, 'result'), 'utf8')).toBe(printed.out);
    const said = `Written: result (${Buffer.byteLength(printed.out).toLocaleString('en')} bytes)\n`;
    expect(err).toContain(said);
    expect(err.replace(said, '')).toBe((await runValidate(root, [])).err);
    expect(err).toContain('error[invalid-address]');
  });

  test.each(FORMATS)('%s with --quiet: the file is written, and nothing is said where all is well', async (format) => {
    people(GOOD);
    const printed = await runValidate(root, ['--format', format]);
    const quiet = await runValidate(root, ['--format', format, '-o', 'result', '--quiet']);
    expect(quiet).toEqual({ status: 0, out: '', err: '' });
    expect(readFileSync(join(root, 'result'), 'utf8')).toBe(printed.out);
    expect(printed.out).not.toBe('');
  });

  test.each(FORMATS)('%s with --quiet and without a file prints nothing', async (format) => {
    people(GOOD);
    expect(await runValidate(root, ['--format', format, '--quiet'])).toEqual({ status: 0, out: '', err: '' });
  });

  it('takes more than a pipe holds', async () => {
    people(`msisdn,first\n${Array.from({ length: 6000 }, (_, i) => `bad ${i},x\n`).join('')}`);
    const printed = await runValidate(root, ['--format', 'json']);
    await runValidate(root, ['--format', 'json', '-o', 'result.json']);
    expect(readFileSync(join(root, 'result.json'), 'utf8')).toBe(printed.out);
    expect(printed.out.length).toBeGreaterThan(500_000);
  });

  test.each(FORMATS)(
    '%s: a folder that does not exist, or a link, is refused, and nothing is left behind',
    async (format) => {
      people(`msisdn,first\n${Array.from({ length: 3000 }, (_, i) => `bad ${i},x\n`).join('')}`);
      symlinkSync('target', join(root, 'link'));
      const missing = await runValidate(root, ['--format', format, '-o', 'none/result']);
      expect(missing).toMatchObject({ status: 2, out: '' });
      expect(missing.err).toMatch(/error\[file-not-found\]: .*none\/result cannot be written/);
      const link = await runValidate(root, ['--format', format, '-o', 'link']);
      expect(link).toMatchObject({ status: 2, out: '' });
      expect(link.err).toMatch(/error\[output-exists\]: .*link is a link/);
      expect(readdirSync(root).toSorted()).toEqual(['.git', 'campaigns', 'link']);
      expect(existsSync(join(root, 'target'))).toBe(false);
    },
  );
});

/** What is made of so many bad rows, many warnings and one fault in another file. */
function documentOf(rows: number): ValidationDocument {
  const gatherer = createGatherer();
  for (let line = 2; line < rows + 2; line += 1) {
    const at = { file: 'a/people.csv', line };
    gatherer.add(warning('unicode-message', `Row ${line} is Unicode.`, { at }), 'a/campaign.yaml');
    gatherer.add(problem('invalid-address', 'Not a number.', { at }), 'a/campaign.yaml');
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g']) {
      gatherer.add(problem('missing-variable', 'Empty.', { at: { ...at, file: `${name}.csv` } }), `${name}.yaml`);
    }
  }
  gatherer.add(problem('unknown-name', 'No column is called "x".', { at: { file: 'z.yaml', line: 3 } }), 'z.yaml');
  const errors = rows * 7 + 1;
  const names = ['a/campaign.yaml', ...['b', 'c', 'd', 'e', 'f', 'g', 'z'].map((name) => `${name}.yaml`)];
  const files = names.map((file) => ({
    file,
    name: null,
    errors: 1,
    warnings: 0,
    schedule: null,
    estimate: null,
    sample: null,
  }));
  const validation: Validation = {
    diagnostics: [],
    files,
    errors,
    warnings: rows,
    total: errors + rows,
    counts: new Map(),
    notes: [],
  };
  return { validation, kinds: gatherer.kinds(), pathOf: (file) => file };
}

describe('a great many diagnostics', () => {
  const document = documentOf(100_000);

  it('are kept within bounds, and the last kind of fault is still there', () => {
    const kept = document.kinds.reduce((sum, kind) => sum + kind.kept.length, 0);
    expect(kept).toBeLessThanOrEqual(5002);
    expect(document.kinds.map(({ code, count }) => [code, count])).toContainEqual(['unknown-name', 1]);
    expect(document.kinds.reduce((sum, { count }) => sum + count, 0)).toBe(document.validation.total);
  });

  it('github: one of each kind first, 50 in all, and the counts of everything', () => {
    const { commands, rest } = readCommands(formatGithub(document));
    expect(commands).toHaveLength(51);
    const first = commands.slice(0, 8).map(({ properties }) => properties['file']);
    expect(new Set(first)).toEqual(
      new Set(['a/people.csv', 'b.csv', 'c.csv', 'd.csv', 'e.csv', 'f.csv', 'g.csv', 'z.yaml']),
    );
    expect(commands.at(-1)?.message).toContain('99,999 more of the same kind.');
    expect(rest).toEqual([
      '700,001 errors, 100,000 warnings in 8 campaigns (699,951 not listed; --format json lists all).',
    ]);
  });

  it('junit: a failure for each kind, with 20 places and the count', () => {
    const root = readXml(formatJunit(document));
    expect(root.attributes).toMatchObject({ tests: '8', failures: '8' });
    const failure = elementsOf(root, 'failure')[0];
    expect(failure?.text.match(/people\.csv:\d+: /g)).toHaveLength(20);
    expect(failure?.text).toContain('99,980 more not listed.');
  });
});
