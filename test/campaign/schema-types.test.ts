import { describe, expect, it, test } from 'vitest';
import { schemaTypes, typeOf } from '../../.scripts/schema-types.ts';
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
  ])('is %s', (expected, schema) => {
    expect(type(schema)).toBe(expected);
  });

  it('is refused where a keyword could not be told', () => {
    expect(() => type({ oneOf: [] } as Schema)).toThrow('"oneOf"');
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
