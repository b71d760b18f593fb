import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { packageZones, zoneSource } from '../../.scripts/zones.ts';
import { createZoneReader } from '../../src/recipients/zone.ts';
import { createZoneTable } from '../../src/recipients/zone-table.ts';
import { isTimeZone } from '../../src/util/time-zone.ts';

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
    'nobody knows of %s',
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

  it('of an email address is the cell alone', () => {
    const mail = createZoneReader({ kind: 'email', timeZone: null }, ['email']);
    expect(mail.of({ to: 'ada@riverside.example', values: ['ada@riverside.example'] })).toBe(-1);
  });
});
