import fc from 'fast-check';
import { resolveSchema, SCHEMAS, type Schema } from '../../src/campaign/validators.ts';
import type { Json } from '../../src/model.ts';
import { anyText } from '../helpers/any-text.ts';

/** What is read of the schema here. */
interface Shape extends Schema {
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** Texts near every limit, of every kind; those that are not known yet are null. */
function nearLimits(unknown: boolean): fc.Arbitrary<string | null> {
  const lengths = fc.constantFrom(0, 1, 20, 21, 25, 26, 60, 61, 160, 161, 257, 1025, 2049, 3073, 4097);
  return fc.oneof(
    anyText(30, true),
    fc.tuple(lengths, fc.constantFrom('x', '😀', '\ud83d', '\n', '\u0001', 'é')).map(([n, c]) => c.repeat(n)),
    fc.constantFrom('https://a.example', 'http://a.example/x.webp', 'https://', '+442079460000', '51.5', '__proto__'),
    fc.constantFrom('2026-11-21T09:00:00Z', '2026-02-30T09:00:00Z', '{{first_name}}', ' '),
    ...(unknown ? [fc.constant(null)] : []),
  );
}

/** Anything that the schema lets through, and sometimes a text that is not known yet. */
function ofSchema(written: Schema, unknown: boolean): fc.Arbitrary<Json> {
  const shape: Shape = { ...resolveSchema(written, 'campaign').schema };
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  const types = [shape.type ?? 'object'].flat();
  const choices = types.map((type) => ofType(type, shape, unknown));
  return fc.oneof(...choices);
}

function ofType(type: string, shape: Shape, unknown: boolean): fc.Arbitrary<Json> {
  const { minimum = -200, maximum = 200 } = shape;
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum });
  if (type === 'number') return fc.double({ min: minimum, max: maximum, noNaN: true });
  if (type === 'string') return nearLimits(unknown).filter((t) => t === null || fits(t, shape));
  if (type === 'array') {
    return fc.array(ofSchema(shape.items ?? {}, unknown), {
      minLength: shape.minItems ?? 0,
      maxLength: 13,
      size: 'max',
    });
  }
  const entries = Object.entries(shape.properties ?? {}).map(
    ([key, inner]) => [key, ofSchema(inner, unknown)] as const,
  );
  return fc.record(Object.fromEntries(entries), { requiredKeys: [...(shape.required ?? [])] });
}

function fits(text: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Shape): boolean {
  return text.length >= minLength && text.length <= maxLength;
}

/** `content` of a campaign file with a few of its keys, `text` among them. */
export function anyContent(unknown: boolean): fc.Arbitrary<Readonly<Record<string, Json>>> {
  const schema = SCHEMAS.campaign().properties?.['content'];
  const keys = Object.entries(schema?.properties ?? {}).map(([key, inner]) => [key, ofSchema(inner, unknown)] as const);
  return fc
    .subarray(keys, { minLength: 1, maxLength: 5 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen))) as fc.Arbitrary<Readonly<Record<string, Json>>>;
}
