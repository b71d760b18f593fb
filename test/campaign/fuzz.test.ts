import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readYaml } from '../../src/campaign/yaml.ts';
import { CODES } from '../../src/errors.ts';
import { formatDiagnostics } from '../../src/util/diagnostic-text.ts';
import { anyText } from '../helpers/any-text.ts';
import { examples } from '../helpers/quick.ts';
import { check, folderWith, SMALLEST } from './helper.ts';

const KEYS = [
  ...'name channel from template recipients send limits stopAfter inDoubt rate metaData variables'.split(' '),
  ...'environments production sandbox baseUrl apiKey env wire response messageId defaults schedule'.split(' '),
  ...'__proto__ constructor toString << 0 1.0'.split(' '),
  '',
  ' ',
  'a/b~c',
  'csv',
  'text',
  'id',
  'file',
  '😀',
];

/** Lines as people and accidents write them. */
const yamlText = fc
  .array(
    fc.record({
      indent: fc.nat(6),
      key: fc.constantFrom(...KEYS),
      colon: fc.constantFrom(': ', ':', ' : ', ' ', '\t: ', '- ', '? '),
      value: fc.oneof(
        fc.constantFrom(
          ...'sms hello +447700900123 007 1e999 .nan ~ yes | >- &a *a'.split(' '),
          '!!x y',
          '{',
          '}',
          '[',
          ']',
          '"',
          "'",
          '# c',
          '%',
          '@',
          '---',
          '...',
          '{ env: KEY }',
          '{ a: 1, a: 2 }',
          '[1, [2]]',
          '"\\ud800"',
          '\ufeff',
          '\u2028',
        ),
        anyText(12, true),
      ),
    }),
    { maxLength: 12 },
  )
  .map((lines) => lines.map((l) => `${' '.repeat(l.indent)}${l.key}${l.colon}${l.value}`).join('\n'));

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .string({ maxLength: 300, unit: fc.constantFrom(...' \n\t:-?[]{},&*!|>\'"%@`#ab01+.') })
    .map((s) => new Uint8Array(Buffer.from(s))),
  yamlText.map((s) => new Uint8Array(Buffer.from(s))),
);

it('whatever bytes are read: a value or diagnostics with real places, and no exception', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const { yaml, diagnostics } = readYaml(bytes, 'file.yaml');
      expect(yaml === null).toBe(diagnostics.length > 0);
      const lines = Buffer.from(bytes).toString('utf8').split('\n').length;
      for (const d of diagnostics) {
        expect(Object.keys(CODES)).toContain(d.code);
        expect(d.at?.line ?? 1).toBeGreaterThan(0);
        expect(d.at?.line ?? 1).toBeLessThanOrEqual(lines);
        expect(d.at?.column ?? 1).toBeGreaterThan(0);
        expect(d.at?.column ?? 1).toBeLessThanOrEqual((d.source?.length ?? Number.POSITIVE_INFINITY) + 2);
      }
      expect(formatDiagnostics(diagnostics, { colour: false })).not.toContain('undefined');
    }),
    { numRuns: examples(1500) },
  );
});

it('whatever is compared with a schema: no exception, and what remains satisfies it', () => {
  fc.assert(
    fc.property(yamlText, fc.constantFrom('campaign' as const, 'project' as const), (text, kind) => {
      const { value, diagnostics } = check(kind, text);
      if (value === null) return;
      for (const d of diagnostics) {
        expect(d.at?.line).toBeGreaterThan(0);
        expect(d.message).not.toMatch(/undefined|\[object/);
      }
      const again = check(kind, JSON.stringify(value)).diagnostics.map((d) => d.code);
      expect(again.filter((code) => code !== 'missing-key')).toEqual([]);
    }),
    { numRuns: examples(1500) },
  );
});

it('any value in any place of a campaign: a campaign or diagnostics', async () => {
  await using folder = await folderWith({
    'campaigns/hello/hello.hbs': 'Hi',
    'campaigns/hello/people.csv': 'msisdn\n',
  });
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map((v) => JSON.stringify(v)),
    fc.constantFrom(
      '24h',
      '5%',
      '50/s',
      'PT1S',
      '2026-11-21T09:00:00Z',
      'GB',
      '../x',
      '/etc/passwd',
      '"\\0"',
      '.',
      '',
      '~',
      '007',
    ),
  );
  const path = fc.constantFrom(
    ...'name channel from validity template template.text template.id template.file recipients'.split(' '),
    ...'recipients.csv recipients.defaultCountry send send.rate send.timeout send.notAfter limits.stopAfter'.split(' '),
    ...'metaData variables recipientMetaData locale timeZone characterSet'.split(' '),
  );
  const property = fc.asyncProperty(path, value, async (at, written) => {
    const [key = '', inner] = at.split('.');
    const kept = SMALLEST.split('\n')
      .filter((line) => !line.startsWith(`${key}:`))
      .join('\n');
    await folder.write(
      'campaigns/hello/campaign.yaml',
      `${kept}${key}: ${inner === undefined ? written : `{ ${inner}: ${written} }`}\n`,
    );
    const { campaign, diagnostics } = await folder.read('hello');
    expect(campaign === null).toBe(diagnostics.some((d) => d.severity === 'error'));
  });
  await fc.assert(property, { numRuns: examples(300) });
});
