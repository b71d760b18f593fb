import { describe, expect, it, test } from 'vitest';
import { publicResultTypes, schemaTypes, typeOf } from '../../.scripts/schema-types.ts';
import { SCHEMAS, type Schema } from '../../src/campaign/validators.ts';

const type = (schema: Schema) => typeOf(schema, 'campaign');

describe('the type of a schema', () => {
  it.each<[type: string, schema: Schema]>([
    ['string', { type: 'string', pattern: '^[a-z]+$' }],
    [
      '"none" | "always" | { readonly from?: string }',
      {
        type: ['string', 'object'],
        pattern: '^(?:none|always)$',
        additionalProperties: false,
        properties: { from: { type: 'string' } },
      },
    ],
    ['"a" | "b"', { enum: ['a', 'b'] }],
    ['number | readonly (true)[]', { type: ['integer', 'array'], items: { type: 'boolean', enum: [true] } }],
    [
      '{ readonly max: number; readonly of?: boolean }',
      {
        type: 'object',
        required: ['max'],
        additionalProperties: false,
        properties: { max: { type: 'number' }, of: { type: 'boolean' } },
      },
    ],
    [
      '{ readonly env: string } | { readonly file: string }',
      {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
        properties: { env: { type: 'string' }, file: { type: 'string' } },
      },
    ],
    [
      '{ readonly [K in string]: number }',
      {
        type: 'object',
        propertyNames: { type: 'string', pattern: '^[a-z]$' },
        additionalProperties: { type: 'integer' },
      },
    ],
    [
      '{ readonly [K in "sms" | "rcs" | "messaging-app" | "email" | "voice"]?: string }',
      { type: 'object', propertyNames: { $ref: '#/definitions/channel' }, additionalProperties: { type: 'string' } },
    ],
    ['{ readonly [key: string]: Json }', { type: 'object', additionalProperties: true }],
    ['"a" | null', { type: ['string', 'null'], enum: ['a', null] }],
  ])('is %s', (expected, schema) => {
    expect(type(schema)).toBe(expected);
  });

  it('is refused where a keyword could not be told', () => {
    expect(() => type({ not: {} } as Schema)).toThrow('"not"');
  });
});

test('the types have every key of the schemas', () => {
  const text = schemaTypes();
  for (const schema of Object.values(SCHEMAS)) {
    const keys = Object.keys(schema().properties ?? {});
    expect(keys.filter((key) => !text.includes(`readonly ${key}?: `) && !text.includes(`readonly ${key}: `))).toEqual(
      [],
    );
  }
});

describe('the type of a result', () => {
  const types = publicResultTypes();

  it('names the definitions of its schema, and says a thing once', () => {
    expect(typeOf({ $ref: '#/definitions/halt' }, 'report')).toBe('ReportHalt');
    expect(typeOf({ oneOf: [{ type: 'null' }, { $ref: '#/definitions/halt' }] }, 'report')).toBe('null | ReportHalt');
    expect(typeOf({ allOf: [{ $ref: '#/definitions/run' }], properties: { why: { enum: [1] } } }, 'purge')).toBe(
      'PurgeRun & { readonly why?: 1 }',
    );
    expect(types).toContain('export interface ReportHalt {');
    expect(types).toContain('readonly code: Code | null');
  });

  it('has the sentence of the schema on a line before each member', () => {
    expect(types).toContain(
      '\n/** Id of the run, as `handbill runs` lists it and `handbill report` takes it. */\nreadonly run: string;',
    );
    expect(types).not.toMatch(/\S \/\*\*|\*\/ \S/);
  });

  it('has the fields of the records of each event of the log', () => {
    expect(types).toContain('readonly "purged": Required<Pick<Log, "dryRun" | "runs" | "left">>;');
    expect(types).toContain('readonly "webhook-notice": Required<Pick<Log, never>>;');
  });

  it('is without the warnings that the command line adds', () => {
    expect(types).not.toContain('readonly warnings?:');
  });
});
