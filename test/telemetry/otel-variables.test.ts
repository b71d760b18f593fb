import { describe, expect, it } from 'vitest';
import { readOtelWish } from '../../src/telemetry/otel.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('what the variables ask for', () => {
  it.each<[label: string, env: Record<string, string>, signals: string | null]>([
    ['nothing', {}, null],
    ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, null],
    ['only a name', { OTEL_SERVICE_NAME: 'campaigns' }, null],
    ['an endpoint', ENDPOINT, 'traces metrics'],
    ['an endpoint, switched off', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, null],
    ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, 'traces'],
    ['an endpoint for metrics', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }, 'metrics'],
    ['an exporter', { OTEL_METRICS_EXPORTER: 'prometheus' }, 'metrics'],
    ['an endpoint without metrics', { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }, 'traces'],
    ['no exporter at all', { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_EXPORTER: 'none' }, null],
    ['a file', { OTEL_CONFIG_FILE: 'otel.yaml' }, 'traces metrics'],
  ])('%s', (_label, env, signals) => {
    const wish = readOtelWish(env);
    const on = wish === null ? null : (['traces', 'metrics'] as const).filter((signal) => wish[signal]).join(' ');
    expect(on).toBe(signals);
    expect(wish?.problems ?? []).toEqual([]);
  });

  it.each<[label: string, env: Record<string, string>, signals: string, problem: RegExp]>([
    ['the console', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'console' }, 'metrics', /OTEL_TRACES_EXPORTER=console/],
    ['an exporter that there is not', { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'otlp,statsd' }, 'traces', /"statsd"/],
    ['a protocol that there is not', { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http' }, 'metrics', /"http"/],
    ['a sampler that there is not', { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'some' }, 'traces metrics', /"some"/],
    ['no ratio', { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio' }, 'traces metrics', /SAMPLER_ARG/],
  ])('says what is wrong: %s', (_label, env, signals, problem) => {
    const wish = readOtelWish(env);
    expect((['traces', 'metrics'] as const).filter((signal) => wish?.[signal]).join(' ')).toBe(signals);
    expect(wish?.problems).toHaveLength(1);
    expect(wish?.problems[0]).toMatch(problem);
  });
});
