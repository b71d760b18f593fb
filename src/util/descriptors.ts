import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * How many more files and connections this process may open; null where the system does not say. The limit is that of the
 * process, not of the shell: Node.js raises its own as far as it may.
 */
export function freeDescriptors(): number | null {
  const limit = descriptorLimit();
  const open = entriesOf('/proc/self/fd') ?? entriesOf('/dev/fd');
  return limit === null || open === null ? null : Math.max(0, limit - open);
}

function descriptorLimit(): number | null {
  const said = readOrNull('/proc/self/limits');
  if (said !== null) return numberOrNull(/^Max open files\s+(\S+)/m.exec(said)?.[1]);
  if (process.platform === 'win32') return null;
  const report: unknown = process.report.getReport();
  const limits = (report as { userLimits?: { open_files?: { soft?: unknown } } }).userLimits;
  return numberOrNull(limits?.open_files?.soft);
}

function numberOrNull(text: unknown): number | null {
  const number = Number(text);
  return text === undefined || Number.isNaN(number) ? null : number;
}

function entriesOf(folder: string): number | null {
  try {
    return readdirSync(folder).length;
  } catch {
    return null;
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
