/** What the standard variables of OpenTelemetry ask for. */
export interface OtelWish {
  readonly traces: boolean;
  readonly metrics: boolean;
  /** Read by the SDK instead of the other variables. */
  readonly configFile: boolean;
  /** The first variable that asks for it, to name it. */
  readonly because: string;
  /** What is wrong with the variables, a sentence each. */
  readonly problems: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

const ASKS = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
  'OTEL_CONFIG_FILE',
] as const;

/**
 * Whether OpenTelemetry is asked for, and for what: by an endpoint or an exporter, unless `OTEL_SDK_DISABLED`. Without
 * any of them it is off, although the SDK's own default is to send to localhost: most machines have no receiver there.
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/)
 *
 * @returns null where it is off
 */
export function readOtelWish(env: Variables): OtelWish | null {
  if (textOf(env, 'OTEL_SDK_DISABLED').toLowerCase() === 'true') return null;
  const because = ASKS.find((name) => textOf(env, name) !== '');
  if (because === undefined) return null;
  const configFile = textOf(env, 'OTEL_CONFIG_FILE') !== '';
  if (configFile) return { traces: true, metrics: true, configFile, because, problems: [] };
  const traces = readSignal(env, 'TRACES', ['otlp', 'zipkin']);
  const metrics = readSignal(env, 'METRICS', ['otlp', 'prometheus']);
  if (!traces.on && !metrics.on && traces.problems.length + metrics.problems.length === 0) return null;
  const problems = [...traces.problems, ...metrics.problems, ...(traces.on ? samplerProblems(env) : [])];
  return { traces: traces.on, metrics: metrics.on, configFile, because, problems };
}

function readSignal(env: Variables, signal: 'TRACES' | 'METRICS', known: readonly string[]) {
  const variable = `OTEL_${signal}_EXPORTER`;
  const named = listOf(textOf(env, variable));
  const hasEndpoint =
    textOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || textOf(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== '';
  if (named.includes('none') || (named.length === 0 && !hasEndpoint)) return { on: false, problems: [] };
  const strange = named.find((name) => !known.includes(name));
  if (strange === 'console') {
    // It writes to stdout, which belongs to results.
    return { on: false, problems: [`${variable}=console has no place here: results are printed there.`] };
  }
  if (strange !== undefined) {
    return { on: false, problems: [`${variable} names "${strange}"; known are ${known.join(', ')} and none.`] };
  }
  const [protocol = 'http/protobuf'] = [
    textOf(env, `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`),
    textOf(env, 'OTEL_EXPORTER_OTLP_PROTOCOL'),
  ].filter((value) => value !== '');
  if (PROTOCOLS.has(protocol)) return { on: true, problems: [] };
  return { on: false, problems: [`The OTLP protocol "${protocol}" is not one of ${[...PROTOCOLS].join(', ')}.`] };
}

const PROTOCOLS: ReadonlySet<string> = new Set(['http/protobuf', 'http/json', 'grpc']);

const SAMPLERS: ReadonlySet<string> = new Set([
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
]);

function samplerProblems(env: Variables): readonly string[] {
  const sampler = textOf(env, 'OTEL_TRACES_SAMPLER');
  if (sampler === '') return [];
  if (!SAMPLERS.has(sampler)) {
    return [`OTEL_TRACES_SAMPLER names "${sampler}", which is not known: everything is sampled.`];
  }
  const ratio = textOf(env, 'OTEL_TRACES_SAMPLER_ARG');
  if (!sampler.endsWith('traceidratio') || (ratio !== '' && Number(ratio) >= 0 && Number(ratio) <= 1)) return [];
  return [`OTEL_TRACES_SAMPLER_ARG is to be a number from 0 to 1, not "${ratio}": everything is sampled.`];
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function textOf(env: Variables, name: string): string {
  return env[name]?.trim() ?? '';
}
