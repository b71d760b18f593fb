import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, test } from 'vitest';
import { packageZones, zoneSource } from '../../.scripts/zones.ts';
import { createZoneReader, createZoneTable } from '../../src/recipients/zone.ts';
import { isTimeZone } from '../../src/util/time.ts';

const table = createZoneTable();
const zonesOf = (e164: string): readonly string[] => table.sets[table.find(e164)] ?? [];

describe('the zones of a number', () => {
  it.each([
    ['+442079460000', ['Europe/London']],
    ['+12125550123', ['America/New_York']],
    ['+13125550123', ['America/Chicago']],
    ['+913312345678', ['Asia/Kolkata']],
    ['+6493001234', ['Pacific/Auckland']],
    ['+351912345678', ['Europe/Lisbon', 'Atlantic/Azores']],
  ])('%s is in %j', (number, zones) => {
    expect(zonesOf(number)).toEqual(zones);
  });

  it.each(['+18005550123', '+18885550123', '+12', '+80012345678', '+882161234567', '+'])(
    'is not known of %s',
    (number) => {
      expect(table.find(number)).toBe(-1);
    },
  );

  it('are those of the package, to the last prefix', () => {
    expect(readFileSync(new URL('../../src/recipients/zone-data.ts', import.meta.url), 'utf8')).toBe(zoneSource());
    for (const [prefix, zones] of packageZones()) {
      expect([...zonesOf(`+${prefix}`)].sort(), prefix).toEqual([...zones].sort());
    }
  });

  it('are zones that this runtime knows', () => {
    const unknown = [...new Set(table.sets.flat())].filter((zone) => !isTimeZone(zone));
    expect(unknown).toEqual([]);
  });
});

test('the longest prefix counts, as in a slow search', () => {
  const zones = packageZones();
  const anyNumber = fc
    .tuple(fc.constantFrom(...zones.keys()), fc.stringMatching(/^[0-9]{0,6}$/))
    .map(([prefix, rest]) => (prefix + rest).slice(0, 15));
  fc.assert(
    fc.property(fc.oneof(anyNumber, fc.stringMatching(/^[1-9][0-9]{4,14}$/)), (digits) => {
      let expected: readonly string[] = [];
      for (let i = 1; i <= digits.length; i++) expected = zones.get(digits.slice(0, i)) ?? expected;
      expect([...zonesOf(`+${digits}`)].sort()).toEqual([...expected].sort());
    }),
  );
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
  const MOST = [...Intl.supportedValuesOf('timeZone'), 'utc', 'EUROPE/LONDON', 'EST', 'MST', 'HST', 'EST5EDT', 'GB'];

  it.each([...new Set([...MOST, 'Etc/GMT+12', 'Etc/GMT-14', 'Zulu', 'W-SU', 'NZ-CHAT'])])(
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
      'EST',
      'GMT',
      'HST',
      'MET',
      'MST',
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
    ...['', 'PST', 'ist', 'JST', '+01:00', '-00:00', '+2359', 'GMT+1', ':Europe/London', '/etc/localtime'],
    ...['../../etc/passwd', 'Europe/../Europe/London', 'x'.repeat(100_000), 'Europe/London\0', 'Europe/London\n'],
    ...['\ud800', 'Europe/\udc00', '\u202eEurope/London', '\u212aurope/London', '__proto__', 'constructor', 'Factory'],
  ])('%j is none', (text) => expect(isTimeZone(text)).toBe(false));
});
