import { expect, test } from 'vitest';
import { canSyncFolders, grants, isDeviceOnWindows } from '../../src/util/platform.ts';

test.each<[mode: number, rights: number, platform: NodeJS.Platform, expected: boolean]>([
  [0o600, 0o077, 'linux', false],
  [0o644, 0o077, 'linux', true],
  [0o644, 0o022, 'darwin', false],
  [0o664, 0o022, 'darwin', true],
  [0o100666, 0o002, 'linux', true],
  // What Node.js says there of every file that is not read-only.
  [0o100666, 0o077, 'win32', false],
])('mode %o and rights %o on %s: %s', (mode, rights, platform, expected) => {
  expect(grants(mode, rights, platform)).toBe(expected);
});

test.each<[platform: NodeJS.Platform, expected: boolean]>([
  ['linux', true],
  ['darwin', true],
  ['win32', false],
])('folders are synced on %s: %s', (platform, expected) => {
  expect(canSyncFolders(platform)).toBe(expected);
});

test.each<[name: string, expected: boolean]>([
  ['nul', true],
  ['NUL', true],
  ['con.csv', true],
  ['com1', true],
  ['lpt9.hbs', true],
  ['console', false],
  ['com', false],
  ['com10', false],
  ['annul', false],
])('%s is a device on Windows: %s', (name, expected) => {
  expect(isDeviceOnWindows(name)).toBe(expected);
});
