import { expect, test } from 'vitest';
import { charsFor } from '../../src/cli/shared/terminal-chars.ts';

test.each<[label: string, env: Record<string, string>, platform: NodeJS.Platform, unicode: boolean]>([
  ['a locale in UTF-8', { LANG: 'en_GB.UTF-8' }, 'linux', true],
  ['another spelling of it', { LANG: 'C.utf8' }, 'linux', true],
  ['another encoding', { LANG: 'de_DE.ISO-8859-1' }, 'linux', false],
  ['no locale', {}, 'linux', false],
  ['LC_ALL counts more than LANG', { LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, 'darwin', false],
  ['an empty LC_ALL does not', { LC_ALL: '', LANG: 'en_GB.UTF-8' }, 'darwin', true],
  ['only LC_CTYPE, as ssh passes it on', { LC_CTYPE: 'UTF-8' }, 'darwin', true],
  ['a dumb terminal', { TERM: 'dumb', LANG: 'en_GB.UTF-8' }, 'linux', false],
  ['the console of Linux', { TERM: 'linux', LANG: 'en_GB.UTF-8' }, 'linux', false],
  ['the old console of Windows', {}, 'win32', false],
  ['Windows Terminal', { WT_SESSION: '0' }, 'win32', true],
  ['the terminal of an editor', { TERM_PROGRAM: 'vscode' }, 'win32', true],
  ['Git Bash', { TERM: 'xterm-256color' }, 'win32', true],
])('%s', (_label, env, platform, unicode) => {
  const chars = charsFor(env, platform);
  expect(chars.unicode).toBe(unicode);
  const drawn = Object.values(chars).join('');
  expect(/^[\x20-\x7e]*$/.test(drawn)).toBe(!unicode);
});
