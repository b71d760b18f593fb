import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import metadata from 'libphonenumber-js/max/metadata';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, test } from 'vitest';
import { clockOf, LANDLINES_ONLY, nearest, zoneSource, zonesOfPrefixes } from '../../.scripts/zones.ts';
import { createZoneReader, createZoneTable } from '../../src/recipients/zone.ts';
import { createOffset, isTimeZone } from '../../src/util/time.ts';
import { zoneFault } from '../../src/util/zone-name.ts';
import { brief, folderWith, hello } from '../campaign/helper.ts';
import { golden } from '../helpers/golden.ts';

const table = createZoneTable();
const zonesOf = (e164: string): readonly string[] => table.sets[table.find(e164)] ?? [];

golden(
  'a number is in its zones',
  'recipients/zones',
  (input) => zonesOf(input.split(' ').at(-1) ?? '').join(' ') || 'not known',
);

golden('a zone that is none is told which is probably meant', 'recipients/zone-hints', (name) => {
  const fault = zoneFault(name);
  return fault === null ? 'is one' : `${fault.problem} (${fault.hint})`;
});

describe('the zones of a number', () => {
  it('are those that the script makes, to the last prefix', () => {
    expect(readFileSync(new URL('../../src/recipients/zone-data.json', import.meta.url), 'utf8')).toBe(zoneSource());
    for (const [prefix, zones] of zonesOfPrefixes()) {
      expect([...zonesOf(`+${prefix}`)].sort(), prefix).toEqual([...zones].sort());
    }
  });

  it('are zones that this runtime knows', () => {
    const unknown = [...new Set(table.sets.flat())].filter((zone) => !isTimeZone(zone));
    expect(unknown).toEqual([]);
  });
});

test('the longest prefix counts, as in a slow search', () => {
  const zones = zonesOfPrefixes();
  const anyNumber = fc
    .tuple(fc.constantFrom(...zones.keys()), fc.stringMatching(/^[0-9]{0,6}$/))
    .map(([prefix, rest]) => (prefix + rest).slice(0, 15));
  fc.assert(
    fc.property(fc.oneof(anyNumber, fc.stringMatching(/^[1-9][0-9]{4,14}$/)), (digits) => {
      expect(zonesOf(`+${digits}`)).toEqual(nearest(zones, digits));
    }),
  );
});

describe('the clocks of a number', () => {
  /** Zones of each country, from the table of IANA. */
  const byCountry = new Map<string, string[]>();
  const table1970 = readFileSync(new URL('../fixtures/recipients/zone1970.tab', import.meta.url), 'utf8');
  for (const line of table1970.split('\n').filter((text) => /^[A-Z]/.test(text))) {
    const [countries = '', , zone = ''] = line.split('\t');
    // "JP,AU Asia/Tokyo" is for an observatory of birds in Australia.
    for (const country of countries.replace('JP,AU', 'JP').split(','))
      byCountry.set(country, [...(byCountry.get(country) ?? []), zone]);
  }
  const clocksOf = (zones: readonly string[]) => [...new Set(zones.map(clockOf))].sort();
  const all = Object.entries(metadata.countries as unknown as Record<string, readonly unknown[]>).flatMap(
    ([country, plan]) => {
      const [code, types] = [plan[0], plan[11]] as [string, readonly (readonly [string] | 0)[] | 0 | undefined];
      const [landline = 0, mobile = 0] = types || [];
      const sharing = metadata.country_calling_codes[code as '1'] ?? [];
      const isMain = sharing[0] === country;
      // An area code of North America belongs to one country; what else is shared may be in each.
      const zones = (code === '1' ? [country] : sharing).flatMap((one) => byCountry.get(one) ?? []);
      const found = (type: readonly [string] | 0) =>
        type === 0 || type[0] === ''
          ? null
          : fc.stringMatching(new RegExp(`^(?:${type[0]})$`)).map((rest) => `+${code}${rest}`);
      return zones.length === 0
        ? []
        : [{ country, zones, landline: found(landline), mobile: isMain ? found(mobile) : null }];
    },
  );
  /** Their mobile numbers begin with an area code, have numbers like those of landlines, or a prefix for each island. */
  const NOT_NATIONWIDE = ['US', 'CA', 'BR', 'MX', 'CL', 'RE'];

  it.each(all)('of $country are those of its zones in the table of IANA', ({ country, zones, landline, mobile }) => {
    const numbers = [landline, mobile].filter((one) => one !== null);
    const clocks = clocksOf(zones);
    fc.assert(
      fc.property(fc.oneof(...numbers), (number) => {
        const found = zonesOf(number);
        if (found.length === 0) expect(number).toMatch(/^\+1(?:[5689]00|[58](.)\1|5[23])/);
        if (/^\+6721[0-3]/.test(number)) return; // Australian bases in Antarctica
        for (const zone of found) expect(clocks.includes(clockOf(zone)), `${number} ${zone}`).toBe(true);
      }),
    );
    if (mobile === null || NOT_NATIONWIDE.includes(country)) return;
    const nationwide = clocksOf((byCountry.get(country) ?? []).filter((zone) => !LANDLINES_ONLY.has(zone)));
    fc.assert(
      fc.property(mobile, (number) => {
        expect(clocksOf(zonesOf(number)), number).toEqual(nationwide);
      }),
    );
  });

  it('are those of the whole country where a prefix is used all over it', () => {
    expect(zonesOf('+79141234567')).toContain('Europe/Kaliningrad');
    expect(zonesOf('+79141234567')).toContain('Asia/Vladivostok');
    expect(zonesOf('+61412345678')[0]).toBe('Australia/Sydney');
    expect(zonesOf('+61412345678')).toContain('Australia/Perth');
    expect(zonesOf('+6281234567890')).toEqual(['Asia/Jakarta', 'Asia/Makassar', 'Asia/Jayapura']);
    expect(zonesOf('+34612345678')).toEqual(['Europe/Madrid', 'Atlantic/Canary']);
    expect(zonesOf('+56912345678')).toEqual(['America/Santiago', 'Pacific/Easter', 'America/Coyhaique']);
    expect(zonesOf('+593991234567')).toEqual(['America/Guayaquil', 'Pacific/Galapagos']);
    expect(zonesOf('+64211234567')).toEqual(['Pacific/Auckland', 'Pacific/Chatham']);
  });
});

describe('the zone of a recipient', () => {
  const reader = createZoneReader({ kind: 'msisdn', timeZone: 'zone' }, ['msisdn', 'zone']);
  const namesOf = (to: string, cell: string) => {
    const id = reader.of({ to, values: [to, cell] });
    return id === -1 ? null : reader.names(id);
  };

  it('is the cell, whatever spaces are around it, else what the number says', () => {
    expect(namesOf('+442079460000', 'Asia/Kolkata')).toEqual(['Asia/Kolkata']);
    expect(namesOf('+442079460000', ' Asia/Kolkata ')).toEqual(['Asia/Kolkata']);
    expect(namesOf('+442079460000', '')).toEqual(['Europe/London']);
    expect(namesOf('+442079460000', '  ')).toEqual(['Europe/London']);
    expect(namesOf('+18005550123', '')).toBeNull();
  });

  it('has one number for each zone, however often it comes', () => {
    const ids = ['Asia/Kolkata', ' Asia/Kolkata', 'Asia/Kolkata'].map((cell) =>
      reader.of({ to: '+1', values: ['', cell] }),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('of an email address is only the cell', () => {
    const mail = createZoneReader({ kind: 'email', timeZone: null }, ['email']);
    expect(mail.of({ to: 'ada@riverside.example', values: ['ada@riverside.example'] })).toBe(-1);
  });
});

describe('a time zone', () => {
  const MOST = [...Intl.supportedValuesOf('timeZone'), 'utc', 'EUROPE/LONDON', 'EST5EDT', 'GB'];

  it.each([...new Set([...MOST, 'Etc/GMT', 'GMT0', 'Etc/GMT-0', 'Zulu', 'W-SU', 'NZ-CHAT'])])(
    '%s is known, also to what makes days of it',
    (zone) => {
      expect(isTimeZone(zone)).toBe(true);
      expect(() => Temporal.PlainDate.from('2026-03-29').toZonedDateTime(zone)).not.toThrow();
    },
  );

  it('whatever name of three letters is taken, days can be made of it', () => {
    const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
    const names = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    const taken = names.flatMap((name) => [name, name.toLowerCase()]).filter(isTimeZone);
    expect(taken.filter((name) => name === name.toUpperCase())).toEqual([
      'CET',
      'EET',
      'GMT',
      'MET',
      'PRC',
      'ROC',
      'ROK',
      'UCT',
      'UTC',
      'WET',
    ]);
    for (const zone of taken) expect(() => Temporal.PlainDate.from('2026-03-29').toZonedDateTime(zone)).not.toThrow();
  });

  it.each([
    ...[
      '',
      'PST',
      'ist',
      'JST',
      'EST',
      'mst',
      'HST',
      'Etc/GMT+5',
      'etc/gmt-14',
      'GMT+5',
      'SystemV/EST5',
      'UTC+1',
      '+01:00',
      '-00:00',
      '+2359',
      'GMT+1',
      ':Europe/London',
      '/etc/localtime',
    ],
    ...['../../etc/passwd', 'Europe/../Europe/London', 'x'.repeat(100_000), 'Europe/London\0', 'Europe/London\n'],
    ...['\ud800', 'Europe/\udc00', '\u202eEurope/London', '\u212aurope/London', '__proto__', 'constructor', 'Factory'],
  ])('%j is none', (text) => expect(isTimeZone(text)).toBe(false));
});

describe('what is said of a zone that is none', () => {
  it('names only zones, at their offset in winter', () => {
    for (let hours = -11; hours <= 14; hours++) {
      const place = /such as (\S+)\.$/.exec(zoneFault(`UTC${hours < 0 ? '' : '+'}${hours}`)?.hint ?? '')?.[1] ?? '';
      const offsetMs = createOffset(place);
      const year = [0, 6].map((month) => offsetMs(Date.UTC(2026, month, 1)) / 3_600_000);
      expect(Math.min(...year), place).toBe(hours);
    }
  });

  it('in a campaign, its schedule and its window', async () => {
    const window = 'send: { window: { from: 09:00, to: 20:00, timeZone: Etc/GMT+5, unknown: EST } }';
    const lines = `timeZone: MST\nschedule: { cron: "0 9 * * 1", timeZone: HST }\n${window}\n`;
    await using folder = await folderWith(hello(lines));
    const { diagnostics } = await folder.read('hello');
    expect(brief(diagnostics)).toEqual([
      'invalid-value 6:11',
      'invalid-value 7:42',
      'invalid-value 8:53',
      'invalid-value 8:73',
    ]);
  });
});
