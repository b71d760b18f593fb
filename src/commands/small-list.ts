import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Some 3,000 rows, for which nothing needs to be bounded: 10,000 took 153 MB without bounds, and 130 with them. */
const SMALL_BYTES = 128 * 1024;

/** Campaign files are smaller. */
const MOST_YAML_BYTES = 64 * 1024;

/**
 * Looks whether every list that a command line speaks of is small, without reading YAML, in a millisecond. No more than a
 * guess, and false wherever anything is unclear: only how much memory a command may take depends on it.
 */
export function hasSmallLists(args: readonly string[], cwd: string): boolean {
  if (args.some((arg) => arg.startsWith('--recipients') || arg.startsWith('--plan'))) return false;
  const [, ...words] = args.filter((arg) => !arg.startsWith('-'));
  try {
    const campaigns = words.flatMap((word) => readCampaign(word, cwd));
    return campaigns.length > 0 && campaigns.every(({ folder, text }) => isSmall(folder, text));
  } catch {
    // What cannot be read is for the command to say.
    return false;
  }
}

interface Found {
  readonly folder: string;
  readonly text: string;
}

/** A word may be the value of an option: then there is no such campaign. */
function readCampaign(word: string, cwd: string): readonly Found[] {
  for (const path of [word, `${word}/campaign.yaml`, `campaigns/${word}/campaign.yaml`]) {
    const file = resolve(cwd, path);
    if (sizeOf(file) <= MOST_YAML_BYTES) return [{ folder: dirname(file), text: readFileSync(file, 'utf8') }];
  }
  return [];
}

/** `recipients: people.csv`, and `csv: people.csv` on a line of its own or in braces. */
const LIST =
  /^(?:recipients:|[ \t]*(?:recipients:[ \t]*\{.*)?\bcsv:)[ \t]*["']?([^"'{}\s,#][^"'{},#\n]*?)["']?[ \t]*(?:[,}#].*)?$/gm;

function isSmall(folder: string, text: string): boolean {
  const lists = [...text.matchAll(LIST)].map(([, path = '']) => sizeOf(resolve(folder, path)));
  return lists.length > 0 && lists.every((bytes) => bytes <= SMALL_BYTES);
}

/** Infinity for whatever is not a file. */
function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : Number.POSITIVE_INFINITY;
}
