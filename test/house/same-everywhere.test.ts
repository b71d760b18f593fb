import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/* What a machine happens to have is no part of a test. */

it('tests have one locale, one time zone and one mode of files', () => {
  const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  expect([locale, timeZone]).toEqual(['en-US', 'UTC']);
  const folder = mkdtempSync(join(tmpdir(), 'handbill-same-'));
  try {
    writeFileSync(join(folder, 'file'), '');
    expect(statSync(join(folder, 'file')).mode & 0o777).toBe(0o644);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('tests have a git without any configuration of a user', () => {
  const read = (scope: string): string =>
    execFileSync('git', ['config', scope, '--list'], {
      cwd: tmpdir(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  expect(read('--global')).toBe('');
});
