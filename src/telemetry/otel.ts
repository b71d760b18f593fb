import type { Meter, Tracer } from '@opentelemetry/api';
import { maskText } from '../util/mask.ts';
import { safeLine } from '../util/safe.ts';
import type { OtelWish } from './otel-variables.ts';

/** OpenTelemetry while it is on. */
export interface Otel {
  readonly api: typeof import('@opentelemetry/api');
  readonly tracer: Tracer;
  readonly meter: Meter;
  /**
   * Delivers what is left, and waits for that at most so long. False where it took longer: connections may be open
   * still, for which no command should wait.
   */
  shutdown(withinMs: number): Promise<boolean>;
}

export interface OtelOptions {
  /** The variables of this process; the SDK reads those of the process itself. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Called with a sentence: what is missing, or wrong with the variables; and the first trouble of the delivery. */
  readonly warn: (sentence: string) => void;
}

/** The longest that a message of the SDK may be. */
const MOST_SHOWN = 300;

/**
 * Starts the SDK by its own variables. Null where it cannot be: then it has been said why, and that is all that happens.
 * Nothing is patched: requests carry the headers that `preview` shows, `traceparent` is none of them.
 */
export async function startOtel(wish: OtelWish, options: OtelOptions): Promise<Otel | null> {
  const { warn, version } = options;
  for (const problem of wish.problems) warn(`OpenTelemetry: ${safeLine(problem)}`);
  if (!wish.traces && !wish.metrics) return null;
  const loaded = await load(wish, warn);
  if (loaded === null) return null;
  const { api, sdk } = loaded;
  try {
    const { shutdown } = sdk.startNodeSdk({
      // Else what it has to say goes to stdout and stderr, as often as it happens.
      logLevel: 'none',
      propagators: [],
      logRecordProcessors: [],
      resourceAttributes: resourceOf(options),
      ...(wish.traces ? {} : { spanProcessors: [] }),
      ...(wish.metrics ? {} : { metricReaders: [] }),
      // Those that are the default tell the arguments of the command line, the user and the host.
      ...((options.env['OTEL_NODE_RESOURCE_DETECTORS'] ?? '') === '' ? { resourceDetectors: [] } : {}),
    });
    const trouble = listenToSdk(api, warn);
    const { trace, metrics } = api;
    return {
      api,
      tracer: trace.getTracer('handbill', version),
      meter: metrics.getMeter('handbill', version),
      async shutdown(withinMs) {
        const inTime = await within(withinMs, shutdown);
        if (!inTime) trouble(`it was not taken within ${withinMs / 1_000} s of the end.`);
        return inTime;
      },
    };
  } catch (error) {
    warn(`OpenTelemetry could not be started: ${shown(error)}`);
    return null;
  }
}

async function load({ because }: OtelWish, warn: OtelOptions['warn']) {
  try {
    return { api: await import('@opentelemetry/api'), sdk: await import('@opentelemetry/sdk-node') };
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    const why = isAbsent ? 'its packages are not installed' : `its packages cannot be loaded (${shown(error)})`;
    warn(`${because} asks for OpenTelemetry, but ${why}: npm install @opentelemetry/sdk-node`);
    return null;
  }
}

/** The user's own words come first: these count before everything that the SDK finds. */
function resourceOf({ env, version }: OtelOptions): Record<string, string> {
  const given = env['OTEL_RESOURCE_ATTRIBUTES'] ?? '';
  const service = env['OTEL_SERVICE_NAME'] ?? '';
  const has = (name: string): boolean => given.split(',').some((pair) => pair.trim().startsWith(`${name}=`));
  return {
    ...(service !== '' ? { 'service.name': service } : has('service.name') ? {} : { 'service.name': 'handbill' }),
    ...(has('service.version') ? {} : { 'service.version': version }),
    // Processes that follow each other must not look like one whose counts went back.
    ...(has('service.instance.id') ? {} : { 'service.instance.id': globalThis.crypto.randomUUID() }),
  };
}

/** An exporter that cannot deliver says so for each batch: it is passed on once, as is what is said by others. */
function listenToSdk({ diag, DiagLogLevel }: Otel['api'], warn: OtelOptions['warn']): (why: string) => void {
  let isSaid = false;
  const say = (...said: readonly unknown[]): void => {
    if (!isSaid) warn(`OpenTelemetry data is not delivered: ${said.map(shown).join(' ')}`);
    isSaid = true;
  };
  const nothing = (): void => undefined;
  const logger = { error: say, warn: say, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return say;
}

/** The message of an error, which the SDK hands over as an error, as JSON with its stack, or as text. */
function shown(said: unknown): string {
  const text = said instanceof Error ? said.message : typeof said === 'string' ? messageIn(said) : String(said);
  return safeLine(maskText(text)).slice(0, MOST_SHOWN);
}

function messageIn(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const { message, name } = JSON.parse(text) as { readonly message?: unknown; readonly name?: unknown };
    return [message, name].find((one) => typeof one === 'string' && one !== '') as string;
  } catch {
    return text;
  }
}

async function within(limitMs: number, work: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const done = work().then(
    () => true,
    // It was said, where there was anything to say.
    () => true,
  );
  const inTime = await Promise.race([done, late]);
  clearTimeout(timer);
  return inTime;
}
