import METRICS from './metrics.json' with { type: 'json' };

export type Metrics = typeof METRICS;
export type Sample<Metric> = readonly [metric: Metric, value: number, labels: Readonly<Record<string, string>>];

/** For node_exporter's textfile collector, which wants the same help in every file. A newer run may have smaller counts. */
export async function gaugesText<About extends keyof Metrics>(
  about: About,
  samples: readonly Sample<keyof Metrics[About]>[],
): Promise<string> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const [name, help] of Object.entries<string>(METRICS[about])) {
    const own = samples.filter(([metric]) => metric === name);
    const [first] = own;
    if (first === undefined) continue;
    const gauge = new Gauge({ name, help, labelNames: Object.keys(first[2]), registers: [registry] });
    for (const [, value, labels] of own) gauge.set({ ...labels }, value);
  }
  return await registry.metrics();
}
