import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { parse } from 'yaml';
import FILE from '../../src/telemetry/metrics.json' with { type: 'json' };
import { recordsIn } from './log-schema.ts';
import { readMetrics } from './prometheus-text.ts';

const METRICS = FILE.runs;

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs/observability.md'), 'utf8');
const METRICS_PAGE = readFileSync(join(ROOT, 'docs/reference/metrics.md'), 'utf8');

it('has a row for each metric, with its help', () => {
  const row = ([name, help]: readonly [string, string]): string => `| \`${name}\` | ${help} |`;
  expect(METRICS_PAGE).toContain(`| metric | meaning |\n|---|---|\n${Object.entries(METRICS).map(row).join('\n')}\n`);
});

test('its example lines are records, its metrics are metrics, and its rules are YAML about these', () => {
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(PAGE)?.[1] ?? '';
  expect(recordsIn(block('json')).length).toBeGreaterThan(2);
  expect(readMetrics(block('text')).length).toBeGreaterThan(3);
  const { groups } = parse(block('yaml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  };
  const named = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/handbill_[a-z_]+/g) ?? []));
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !(name in METRICS))).toEqual([]);
});
