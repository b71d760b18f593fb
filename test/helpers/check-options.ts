import { join } from 'node:path';
import { expect } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const helps = new Map<string, string>();

/** Fails where a command line, as a page or a manifest has it, names a command or an option that there is not. */
export async function checkOptions([command = '', ...args]: readonly string[]): Promise<void> {
  const out = helps.get(command) ?? (await handbillHere(ROOT, [command, '--help'])).out;
  helps.set(command, out);
  expect(out, command).toContain(`Usage: handbill ${command}`);
  for (const option of args.filter((arg) => /^--?\w/.test(arg))) {
    expect(out, `${command} ${option}`).toMatch(new RegExp(`(?<![\\w-])${option}(?![\\w-])`));
  }
}
