/** The characters with which progress and questions are drawn, each one column wide. */
export interface TerminalChars {
  /** The done part of a bar, and the rest. */
  readonly done: string;
  readonly left: string;
  readonly cut: string;
  /** Whether the terminal shows all of Unicode, not only ASCII. */
  readonly unicode: boolean;
}

const UNICODE: TerminalChars = { done: '━', left: '─', cut: '…', unicode: true };
const ASCII: TerminalChars = { done: '#', left: '-', cut: '~', unicode: false };

/**
 * POSIX: by the locale (`LC_ALL`, else `LC_CTYPE`, else `LANG`); without one it is C, which has only ASCII. The console
 * of Linux has 256 or 512 glyphs. Windows: current terminals identify themselves; the older console has those of its
 * code page.
 */
export function charsFor(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): TerminalChars {
  const term = env['TERM'] ?? '';
  if (term === 'dumb' || term === 'linux') return ASCII;
  if (platform === 'win32') return isModernOnWindows(env, term) ? UNICODE : ASCII;
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((name) => name !== undefined && name !== '') ?? 'C';
  return /utf-?8/i.test(locale) ? UNICODE : ASCII;
}

function isModernOnWindows(env: Readonly<Record<string, string | undefined>>, term: string): boolean {
  return (
    (env['WT_SESSION'] ?? '') !== '' ||
    env['TERM_PROGRAM'] === 'vscode' ||
    env['TERMINAL_EMULATOR'] === 'JetBrains-JediTerm' ||
    env['ConEmuTask'] === '{cmd::Cmder}' ||
    term.startsWith('xterm') ||
    term === 'alacritty'
  );
}
