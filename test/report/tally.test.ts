import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { SCHEMAS } from '../../src/campaign/validators.ts';
import { CHANNELS } from '../../src/content/channels.ts';
import { OUTCOMES, type WinnerDecision } from '../../src/model.ts';
import { formatReport } from '../../src/report/formats.ts';
import { RECORD_FIELDS, stepRecordOf } from '../../src/report/record.ts';
import { buildReport } from '../../src/report/tally.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import {
  CAME_BACK,
  collect,
  count,
  FELL_BACK,
  OPTIONS,
  OUTCOMES_OF_ALL_KINDS,
  outcome,
  PLAIN,
  REQUESTS,
  RETURNED,
  RUN,
  SPLIT,
  SPLIT_CAMPAIGN,
  SPLIT_COUNTS,
  TROUBLED,
} from './examples.ts';

describe('buildReport', () => {
  it('has the most frequent reason first, then by name', () => {
    const of = (reason: string, n: number) => count({ outcome: 'skipped', reason, count: n });
    const { reasons } = buildReport(
      RUN,
      [of('removed', 2), of('duplicate', 2), of('holdout', 9), of('removed', 1)],
      REQUESTS,
    );
    expect(Object.entries(reasons['skipped'] ?? {})).toEqual([
      ['holdout', 9],
      ['removed', 3],
      ['duplicate', 2],
    ]);
  });
  it('sums prices without the error of 0.1 + 0.2, and has none where none is known', () => {
    const priced = buildReport(RUN, [count({ costMicros: 100_000 }), count({ costMicros: 200_000 })], REQUESTS);
    expect(priced.sms.cost).toBe(0.3);
    expect(buildReport(RUN, [count({})], REQUESTS).sms.cost).toBeNull();
    expect(buildReport(RUN, [count({ costMicros: 0 })], REQUESTS).sms.cost).toBe(0);
  });
  it('is an empty report for an empty list', () => {
    const empty = buildReport(RUN, [], REQUESTS);
    expect(empty.totals.recipients).toBe(0);
    expect(empty.reasons).toEqual({});
    expect(empty.sms).toEqual({ parts: 0, encodings: {}, cost: null });
  });
  test.each([
    ['postgres://anna:s3cret@db.example:5432/ledger', 'postgres://db.example:5432/ledger'],
    ['postgresql://anna:p:w@db/x', 'postgresql://db/x'],
    ['postgres://anna:p@ss@db/x', 'postgres://db/x'],
    ['postgres://anna@db/x', 'postgres://db/x'],
    ['/srv/a:b@c/ledger.db', '/srv/a:b@c/ledger.db'],
  ])('the ledger %s is shown as %s', (ledger, shown) => {
    expect(buildReport({ ...RUN, ledger }, [], REQUESTS).ledger).toBe(shown);
  });
  it('has the steps and variants in the order of the campaign, or by number and name', () => {
    expect(SPLIT.steps?.map(({ channel }) => channel)).toEqual(['rcs', 'sms']);
    expect(SPLIT.variants?.map(({ name, recipients }) => [name, recipients])).toEqual([
      ['B', 992],
      ['A', 1000],
      ['C', 0],
    ]);
    const unknown = buildReport(RUN, SPLIT_COUNTS.toReversed(), REQUESTS);
    expect(unknown.steps).toEqual(SPLIT.steps);
    expect(unknown.variants?.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(unknown.significance).toEqual(SPLIT.significance);
    expect(SPLIT.significance).toMatchObject({ test: 'fisher', enough: true });
  });
  it('has neither where there is nothing to tell apart', () => {
    for (const report of [PLAIN, TROUBLED]) {
      expect(Object.keys(report).filter((key) => ['steps', 'variants', 'significance'].includes(key))).toEqual([]);
    }
    const never = buildReport(RUN, [count({ channel: 'rcs' })], REQUESTS, { campaign: SPLIT_CAMPAIGN });
    expect(never.steps?.map(({ channel, attempted, fellBack }) => [channel, attempted, fellBack])).toEqual([
      ['rcs', 1, 0],
      ['sms', 0, 0],
    ]);
    const one = buildReport(RUN, [count({ variant: 'A' })], REQUESTS);
    expect(one.variants).toHaveLength(1);
    expect(one.significance).toBeNull();
  });
  it('totals add up to the recipients, whatever the counts', () => {
    const counts = fc.array(fc.record({ outcome: fc.constantFrom(...OUTCOMES), count: fc.nat(1e6) }).map(count));
    fc.assert(
      fc.property(counts, (many) => {
        const { recipients, ...others } = buildReport(RUN, many, REQUESTS).totals;
        expect(Object.values(others).reduce((sum, n) => sum + n, 0)).toBe(recipients);
      }),
    );
  });
});

describe('schemas/report.schema.json', () => {
  const schema = JSON.parse(readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8'));
  const ajv = formatAjv({ strict: true, allErrors: true, allowUnionTypes: true });
  const validate = ajv.compile(schema);
  const validateRecord = ajv.compile({ ...schema.definitions.record, definitions: schema.definitions });

  test.each([
    ['plain', PLAIN],
    ['in trouble', TROUBLED],
    ['with steps and variants', SPLIT],
    ['about which something came back', RETURNED],
    ['with one variant', buildReport(RUN, [count({ variant: 'A' })], REQUESTS)],
    ['running', { ...PLAIN, state: 'running' as const, finishedAt: null }],
  ])('describes the json of a run: %s', async (_label, report) => {
    const printed = await collect(formatReport('json', report, [], OPTIONS));
    validate(JSON.parse(printed));
    expect(validate.errors).toBeNull();
    expect(printed).toBe(`${JSON.stringify(report, null, 2)}\n`);
  });
  it('has the fields of the contract in its order', () => {
    expect(Object.keys(PLAIN)).toEqual(schema.required);
    const winner = { variant: 'A', by: 'read', why: 'tie', minimum: 1, shares: [{ name: 'A', part: 1, whole: 2 }] };
    const times = {
      purgedAt: RUN.startedAt,
      closedAt: RUN.startedAt,
      acceptedList: ['The list has 4 recipients.'],
      opensAt: RUN.startedAt,
      paused: { environment: 'test', campaign: null, reason: 'wrong prices', who: 'ann@ops-1', since: RUN.startedAt },
      winnerAt: RUN.startedAt,
    };
    const corrected = { line: 2, key: '1', to: '+447700900123', listTo: '+447700900124', sentBefore: false };
    const changed = [{ ...corrected, outcome: 'accepted' }] as const;
    const commits = [{ commit: 'a'.repeat(40), branch: 'main', clean: true }];
    const inputs = [{ role: 'campaign', file: 'hello/campaign.yaml', sha256: 'b'.repeat(64) }] as const;
    const whole = {
      ...RUN,
      state: 'partial',
      activeMs: 64_120,
      postedFrom: 'backup',
      commits,
      inputs,
      versions: [1, 2].map(() => ({ since: RUN.startedAt, commits, inputs })),
      ...times,
      changed,
      secondMessages: { refused: 1, failed: 0 },
      winner: winner as WinnerDecision,
    } as const;
    const built = buildReport(whole, SPLIT_COUNTS, REQUESTS, {
      campaign: SPLIT_CAMPAIGN,
      cameBack: {
        ...CAME_BACK,
        before: { run: 'hello-1', occurrence: 'monday', accepted: 9, rejected: 0, failed: 0, skipped: 0 },
        unmatched: { environment: 20 },
      },
    });
    const everything = built;
    expect(everything.unmatchedReports).toEqual({ environment: 20 });
    expect(everything.deliveries).toEqual(RETURNED.deliveries);
    const { warnings: _, ...own } = schema.properties; // of the command, beside the report
    expect(Object.keys(everything)).toEqual(Object.keys(own));
    expect(validate(JSON.parse(JSON.stringify(everything)))).toBe(true);
    const { step, variant, significance } = schema.definitions;
    expect(Object.keys(SPLIT.steps?.[0] ?? {})).toEqual(step.required);
    expect(Object.keys(SPLIT.variants?.[0] ?? {})).toEqual(variant.required);
    expect(Object.keys(everything.variants?.[0] ?? {})).toEqual(Object.keys(variant.properties));
    expect(Object.keys(everything.versions?.[0] ?? {})).toEqual(schema.definitions.version.required);
    expect(Object.keys(SPLIT.significance ?? {})).toEqual(significance.required);
  });
  test.each([
    ['an unknown field', { ...PLAIN, more: 1 }],
    ['a state that is none', { ...PLAIN, state: 'done' }],
    ['a missing total', { ...PLAIN, totals: { ...PLAIN.totals, pending: undefined } }],
    ['a reason under a wrong outcome', { ...PLAIN, reasons: { 'in-doubt': { timeout: 1 } } }],
    ['half a person', { ...PLAIN, totals: { ...PLAIN.totals, accepted: 0.5 } }],
  ])('refuses %s', (_label, report) => {
    expect(validate(JSON.parse(JSON.stringify(report)))).toBe(false);
  });
  it('describes each line of jsonl', async () => {
    const lines = (await collect(formatReport('jsonl', PLAIN, [[...OUTCOMES_OF_ALL_KINDS, FELL_BACK]], OPTIONS)))
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(8);
    for (const line of lines) {
      validateRecord(JSON.parse(line));
      expect(validateRecord.errors).toBeNull();
    }
    expect(validateRecord({ ...JSON.parse(lines[0] ?? ''), more: 1 })).toBe(false);
  });
  it('has the closed sets of the source', () => {
    const { record } = schema.definitions;
    expect(record.properties.outcome.enum).toEqual([...OUTCOMES]);
    expect(SCHEMAS.campaign()).toMatchObject({ definitions: { channel: { enum: CHANNELS } } });
    expect(record.properties.channel.$ref).toBe('campaign.schema.json#/definitions/channel');
    expect(record.required).toEqual([...RECORD_FIELDS]);
    expect(Object.keys(record.properties)).toEqual([
      ...RECORD_FIELDS,
      'columns',
      'steps',
      'postedFrom',
      'listTo',
      'earlier',
    ]);
    const { stepRecord } = schema.definitions;
    const made = stepRecordOf({ ...outcome({}), postedFrom: 'staging' }, 'k', () => null);
    expect([...stepRecord.required, 'postedFrom']).toEqual(Object.keys(made));
    expect(Object.keys(stepRecord.properties)).toEqual(Object.keys(made));
    for (const name of ['step', 'stepRecord']) {
      expect(schema.definitions[name].properties.channel.$ref).toBe('campaign.schema.json#/definitions/channel');
    }
  });
  it('describes every property and gives an example that is valid', () => {
    const properties = propertiesOf(schema);
    expect(properties.length).toBeGreaterThan(50);
    for (const { name, property } of properties) {
      if (typeof property['$ref'] === 'string') continue;
      expect({ name, described: typeof property['description'] === 'string' }).toEqual({ name, described: true });
      const holdsFields = typeof property['properties'] === 'object' && !Array.isArray(property['examples']);
      if (holdsFields) continue;
      const examples = property['examples'];
      expect({ name, hasExample: Array.isArray(examples) && examples.length > 0 }).toEqual({ name, hasExample: true });
      const check = ajv.compile({ ...property, definitions: schema.definitions });
      for (const example of Array.isArray(examples) ? examples : []) {
        expect({ name, example, valid: check(example) }).toEqual({ name, example, valid: true });
      }
    }
  });
});

type Node = Record<string, unknown>;

/** Every property that a schema describes, at any depth. */
function propertiesOf(node: Node): readonly { name: string; property: Node }[] {
  const found: { name: string; property: Node }[] = [];
  for (const group of ['properties', 'definitions']) {
    for (const [name, property] of Object.entries(asNode(node[group]))) {
      const inner = asNode(property);
      if (group === 'properties') found.push({ name, property: inner });
      found.push(...propertiesOf(inner));
    }
  }
  return found;
}

function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}
