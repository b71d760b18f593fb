import { readFile } from 'node:fs/promises';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_WIRE, DEFAULTS } from '../../src/campaign/defaults.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import { createAjv, type FileKind, resolveSchema, SCHEMAS, type Schema } from '../../src/campaign/validators.ts';
import { PLAIN_LIST_KEYS } from '../../src/model.ts';
import { instantMs } from '../../src/util/time.ts';
import { durationMs, ratePerSecond, share } from '../../src/util/units.ts';
import { examples } from '../helpers/quick.ts';

interface Property {
  readonly path: string;
  readonly schema: Schema;
  readonly kind: FileKind;
}

function propertiesOf(kind: FileKind, schema: Schema = SCHEMAS[kind](), path = ''): readonly Property[] {
  const own = Object.entries(schema.properties ?? {}).map(([key, inner]) => ({
    path: `${path}/${key}`,
    ...resolveSchema(inner, kind),
  }));
  const any = typeof schema.additionalProperties === 'object' && schema.additionalProperties.properties !== undefined;
  const named = any ? [{ path: `${path}/*`, ...resolveSchema(schema.additionalProperties as Schema, kind) }] : [];
  return [...own, ...named].flatMap((p) => [p, ...propertiesOf(p.kind, p.schema, p.path)]);
}

const properties = (['campaign', 'project'] as const).flatMap((kind) =>
  propertiesOf(kind).map((p) => [`${kind} ${p.path}`, p] as const),
);

const ajv = createAjv();

describe('every property', () => {
  it('is found', () => expect(properties.length).toBeGreaterThan(100));

  test.each(properties)('%s has a description, and examples that it accepts', (_label, { schema, kind }) => {
    expect(schema.description).toMatch(/^[A-Z].{5,}[.:]$|^[a-z]/);
    expect(schema.examples?.length).toBeGreaterThan(0);
    // No keys that it does not know.
    if (schema.properties !== undefined) expect([undefined, true]).not.toContain(schema.additionalProperties);
    const validate = ajv.compile({
      ...schema,
      definitions: (SCHEMAS[kind]() as { definitions?: object }).definitions ?? {},
    });
    for (const example of schema.examples ?? []) {
      expect(validate(example), JSON.stringify([example, validate.errors?.map((e) => e.schemaPath)])).toBe(true);
    }
    if (schema.default === undefined) return;
    expect(validate(schema.default)).toBe(true);
    // Editors show the description, and not the default.
    const isNone = ['""', '[]', '{}'].includes(JSON.stringify(schema.default));
    const shown = typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default);
    expect(schema.description).toContain(` Default: ${isNone ? 'none' : `\`${shown}\``}.`);
  });
});

describe('the files as a whole', () => {
  test.each(['campaign', 'project'] as const)('%s: its examples are valid', (kind) => {
    const validate = createAjv().compile(SCHEMAS[kind]());
    for (const example of SCHEMAS[kind]().examples ?? []) expect(validate(example)).toBe(true);
  });

  test.each(['campaign', 'project'])('%s is formatted JSON', async (name) => {
    const text = await readFile(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8');
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('refuse to fetch a schema from elsewhere', () => {
    expect(() => createAjv().compile({ $ref: 'https://example.com/schema.json' })).toThrow(/can't resolve/);
  });
});

describe('defaults', () => {
  const PROVIDER = builtIn(DEFAULT_PROVIDER).provider;
  const written = new Map(
    properties.filter(([, p]) => p.schema.default !== undefined).map(([label, p]) => [label, p.schema.default]),
  );

  it('in the schemas are the ones in the code', () => {
    expect(
      Object.fromEntries(
        [...written].filter(
          ([label]) =>
            !label.startsWith('project /defaults') &&
            !label.startsWith('campaign /fallback/') &&
            !label.startsWith('project /environments/sandbox'),
        ),
      ),
    ).toEqual({
      'campaign /characterSet': DEFAULTS.characterSet,
      'campaign /transliterate': DEFAULTS.transliterate,
      'campaign /locale': DEFAULTS.locale,
      'campaign /timeZone': DEFAULTS.timeZone,
      'campaign /recipients/onInvalid': PLAIN_LIST_KEYS.onInvalid,
      'campaign /send/concurrency': DEFAULTS.concurrency,
      'campaign /send/attempts': DEFAULTS.attempts,
      'campaign /send/recipientsPerRequest': DEFAULTS.recipientsPerRequest,
      'campaign /send/timeout': `${DEFAULTS.timeoutMs / 1000}s`,
      'campaign /send/canary/gate/accepted': `${DEFAULTS.canaryAccepted * 100}%`,
      'campaign /send/canary/pause': `${DEFAULTS.canaryPauseMs / 1000}s`,
      'campaign /send/canary/gate/wait': `${DEFAULTS.canaryWaitMs / 60_000}m`,
      'campaign /winner/by': DEFAULTS.winnerBy,
      'campaign /winner/wait': `${DEFAULTS.winnerWaitMs / 3_600_000}h`,
      'campaign /winner/tie': DEFAULTS.winnerTie,
      'campaign /winner/minimum': DEFAULTS.winnerMinimum,
      'campaign /schedule/missed': DEFAULTS.missed,
      'campaign /send/window/timeZone': DEFAULTS.windowTimeZone,
      'campaign /send/window/unknown': DEFAULTS.windowUnknown ?? 'hold',
      'campaign /send/window/countries': DEFAULTS.windowCountries,
      'project /ledger': DEFAULTS.ledger,
      'project /locale': DEFAULTS.locale,
      'project /testers': [],
      'project /timeZone': DEFAULTS.timeZone,
      'project /webhook/path': DEFAULTS.webhookPath,
      'project /environments/*/webhook/scheme': DEFAULTS.webhookScheme,
      'project /environments/*/webhook/tolerance': `${DEFAULTS.webhookToleranceMs / 60_000}m`,
      'project /webhook/replies/startLifts': false,
      'project /webhook/replies/stopEnds': 'everything',
      'campaign /frequency/of': 'all',
      'project /environments/*/webhook/method': DEFAULTS.webhookMethods,
      ...Object.fromEntries(
        Object.entries(DEFAULTS.webhookProofs).flatMap(([proof, settings]) =>
          Object.entries(settings).map(([key, value]) => [`project /environments/*/webhook/${proof}/${key}`, value]),
        ),
      ),
      'project /environments/*/provider': DEFAULT_PROVIDER,
      'project /environments/*/wire/messageTypes': PROVIDER.messageTypes,
      'project /environments/*/wire/senders': PROVIDER.senders,
      'project /environments/*/wire/msisdn': PROVIDER.msisdn,
      'project /environments/*/wire/response/accept': DEFAULT_WIRE.response.accept,
      ...Object.fromEntries(
        Object.entries(PROVIDER.characterSets).map(([k, v]) => [`project /environments/*/wire/characterSets/${k}`, v]),
      ),
    });
  });
});

describe('patterns', () => {
  const patterns = properties.flatMap(([label, { schema }]) =>
    [schema, schema.items].flatMap((s) => (s?.pattern === undefined ? [] : [[label, s.pattern] as const])),
  );

  test.each([...new Set(patterns.map(([, pattern]) => pattern))])('%s is linear', (pattern) => {
    const regex = new RegExp(pattern, 'u');
    // With work that grows with their square, these texts take longer than a test may.
    const answers = ['a', '/', '~', '0', '9', '%', '-', '/a', '~1', 'P1D', ' ', '.'].flatMap((unit) =>
      ['!', '\n', ''].map((end) => regex.test(unit.repeat(examples(200_000)) + end)),
    );
    expect(answers).toHaveLength(36);
  });

  test.each(patterns)('%s says what to write instead', (label) => {
    const found = properties.find(([l]) => l === label)?.[1].schema;
    expect(found?.patternErrorMessage ?? found?.items?.patternErrorMessage).toMatch(/^(Write|Use) .*\.$|^Write .*:/);
  });

  const samples = [
    ...'30s 7d PT30S P1DT2H P P1DT 30 PT 24H 50/s 0.5/min 50/d 5% 0.5% 5 2026-11-21T09:00:00Z'.split(' '),
    ...'2026-11-21T09:00Z 2026-11-21 2026-11-21T09:00:00.123+01:00'.split(' '),
  ];
  test.each(samples)('agree with the parsers on %s', (text) => {
    const matches = (pointer: string) =>
      new RegExp(properties.find(([l]) => l === pointer)?.[1].schema.pattern ?? '', 'u').test(text);
    if (durationMs(text) !== null) expect(matches('campaign /send/timeout')).toBe(true);
    if (ratePerSecond(text) !== null) expect(matches('campaign /send/rate')).toBe(true);
    if (share(text) !== null) expect(matches('campaign /limits/stopAfter/rejected')).toBe(true);
    if (instantMs(text) !== null) expect(matches('campaign /send/notAfter')).toBe(true);
    expect(matches('campaign /validity')).toBe(matches('campaign /send/timeout') || matches('campaign /send/notAfter'));
  });
});
