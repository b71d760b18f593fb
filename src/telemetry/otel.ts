import type { Attributes, Context, Meter, Span, Tracer } from '@opentelemetry/api';
import type { Attempt } from '../model.ts';
import type { LogAbout } from '../operations/observer.ts';
import { safeLine } from '../util/escape.ts';
import { maskText } from '../util/redact.ts';

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

interface OtelOptions {
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

/** What the standard variables of OpenTelemetry ask for. */
interface OtelWish {
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

/** Something that takes time and is over once. */
export interface Timed {
  /** @param error what went wrong, in a word of a closed set; null: nothing did */
  end(error: string | null, attributes?: Attributes): void;
}

/** The command, and what is below it. */
export interface CommandSpan extends Timed {
  /** A part of the command, such as the check pass. */
  part(name: string, about: LogAbout): Timed;
  /** A start of a run. */
  run(about: LogAbout): RunSpan;
}

export interface RunSpan extends Timed {
  /** One request; called when it has begun, and what it returns when it has ended. */
  request(target: RequestTarget): (attempt: Attempt) => void;
}

/** Where requests go. */
export interface RequestTarget {
  /** Without anything secret. */
  readonly url: string;
  readonly address: string;
  readonly port: number;
}

/**
 * Begins the span of a command. Where `TRACEPARENT` names a trace, as CI systems set it, the command is a part of that
 * (https://opentelemetry.io/docs/specs/otel/context/env-carriers/).
 *
 * A request is a trace of its own that links to its run: so the sampler decides for each, where it would take all of a
 * run or none, and no trace has a million spans.
 */
export function startCommandSpan(
  { api, tracer }: Pick<Otel, 'api' | 'tracer'>,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): CommandSpan {
  const { SpanKind, trace, ROOT_CONTEXT } = api;
  const attributes = { 'handbill.command': name };
  const span = tracer.startSpan(`handbill ${name}`, { attributes }, parentOf(api, env));
  const inside = trace.setSpan(ROOT_CONTEXT, span);
  return {
    end: ender(api, span),
    part: (part, about) => ({ end: ender(api, tracer.startSpan(part, { attributes: aboutOf(about) }, inside)) }),
    run(about) {
      const said = aboutOf(about);
      const run = tracer.startSpan('run', { attributes: said }, inside);
      const links = [{ context: run.spanContext() }];
      return {
        end: ender(api, run),
        request(target) {
          const request = tracer.startSpan(
            'POST',
            { kind: SpanKind.CLIENT, root: true, links, attributes: { ...said, ...requestAttributes(target) } },
            ROOT_CONTEXT,
          );
          return (attempt) => endRequest(api, request, attempt);
        },
      };
    },
  };
}

/** Attributes of the semantic conventions for HTTP clients that are the same for every request to one place. */
function requestAttributes({ url, address, port }: RequestTarget): Attributes {
  return { 'http.request.method': 'POST', 'url.full': url, 'server.address': address, 'server.port': port };
}

/** `error.type` of the conventions: the status where it is an error, else the code of the error; null: all is well. */
function errorTypeOf({ status, error }: Attempt): string | null {
  if (error !== null) return error.code;
  return status !== null && status >= 400 ? String(status) : null;
}

function endRequest(api: Otel['api'], span: Span, attempt: Attempt): void {
  const status = attempt.status === null ? {} : { 'http.response.status_code': attempt.status };
  ender(api, span)(errorTypeOf(attempt), { ...status, 'handbill.phase': attempt.phase });
}

function ender({ SpanStatusCode }: Otel['api'], span: Span): Timed['end'] {
  return (error, attributes = {}) => {
    span.setAttributes(attributes);
    if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
}

function aboutOf({ run, campaign, environment, occurrence }: LogAbout): Attributes {
  const named = {
    'handbill.run': run,
    'handbill.campaign': campaign,
    'handbill.environment': environment,
    'handbill.occurrence': occurrence,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)) as Attributes;
}

/** Version 00 of https://www.w3.org/TR/trace-context/. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function parentOf(
  { trace, ROOT_CONTEXT, isSpanContextValid }: Otel['api'],
  env: Readonly<Record<string, string | undefined>>,
): Context {
  const [, traceId = '', spanId = '', flags = '00'] = TRACEPARENT.exec(env['TRACEPARENT'] ?? '') ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** What is counted and measured. The names are those of docs/reference/metrics.md. */
export interface Instruments {
  /** Messages that came to an outcome. */
  messages(count: number, what: MessageFacts): void;
  retries(count: number, what: Pick<MessageFacts, 'campaign' | 'environment' | 'reason'>): void;
  parts(count: number, what: Omit<MessageFacts, 'outcome' | 'reason'>): void;
  /** A request has begun. */
  began(target: RequestTarget): void;
  ended(target: RequestTarget, attempt: Attempt): void;
  /** Recipients of a run by delivery state, as they are now. */
  deliveries(count: number, what: { campaign: string; environment: string; state: string }): void;
  /** Delivery reports that came in. */
  reports(count: number, state: string): void;
  replies(count: number, meaning: string): void;
  optOuts(count: number): void;
}

interface MessageFacts {
  readonly outcome: string;
  readonly reason: string | null;
  readonly channel: string;
  readonly campaign: string;
  readonly environment: string;
}

/** In seconds, as the semantic conventions advise. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];

/** Every instrument, with its description: the documentation is compared with it. */
export const INSTRUMENTS = {
  'handbill.messages': 'Messages with an outcome; each channel step counts separately.',
  'handbill.retries': 'Attempts after which a message is tried again.',
  'handbill.message.parts': 'Parts of the messages that the API took, or may have taken.',
  'http.client.request.duration': 'How long requests to the API took.',
  'http.client.active_requests': 'Requests in flight.',
  'handbill.deliveries': 'Recipients of a run by delivery state.',
  'handbill.delivery_reports': 'Delivery reports that came in, those that were known already included.',
  'handbill.replies': 'Replies that came in, those that were known already included.',
  'handbill.opt_outs': 'Addresses that were suppressed because of an opt-out.',
} as const;

export function createInstruments({ meter }: Pick<Otel, 'meter'>): Instruments {
  const describe = (name: keyof typeof INSTRUMENTS, unit: string) => ({ unit, description: INSTRUMENTS[name] });
  const counter = (name: keyof typeof INSTRUMENTS, unit: string) => meter.createCounter(name, describe(name, unit));
  const messages = counter('handbill.messages', '{message}');
  const retries = counter('handbill.retries', '{attempt}');
  const parts = counter('handbill.message.parts', '{part}');
  const reports = counter('handbill.delivery_reports', '{report}');
  const replies = counter('handbill.replies', '{reply}');
  const optOuts = counter('handbill.opt_outs', '{address}');
  const deliveries = meter.createGauge('handbill.deliveries', describe('handbill.deliveries', '{recipient}'));
  const duration = meter.createHistogram('http.client.request.duration', {
    ...describe('http.client.request.duration', 's'),
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  const active = meter.createUpDownCounter(
    'http.client.active_requests',
    describe('http.client.active_requests', '{request}'),
  );
  return {
    messages: (count, { outcome, reason, ...where }) =>
      messages.add(count, { ...placeOf(where), 'handbill.outcome': outcome, ...reasonOf(reason) }),
    retries: (count, { reason, campaign, environment }) =>
      retries.add(count, {
        'handbill.campaign': campaign,
        'handbill.environment': environment,
        ...reasonOf(reason),
      }),
    parts: (count, where) => parts.add(count, placeOf(where)),
    began: (target) => active.add(1, serverOf(target)),
    ended(target, attempt) {
      active.add(-1, serverOf(target));
      const error = errorTypeOf(attempt);
      duration.record(attempt.latencyMs / 1_000, {
        ...serverOf(target),
        ...(attempt.status === null ? {} : { 'http.response.status_code': attempt.status }),
        ...(error === null ? {} : { 'error.type': error }),
      });
    },
    deliveries: (count, { campaign, environment, state }) =>
      deliveries.record(count, {
        'handbill.campaign': campaign,
        'handbill.environment': environment,
        'handbill.delivery': state,
      }),
    reports: (count, state) => reports.add(count, { 'handbill.delivery': state }),
    replies: (count, meaning) => replies.add(count, { 'handbill.meaning': meaning }),
    optOuts: (count) => optOuts.add(count),
  };
}

function placeOf({ channel, campaign, environment }: Omit<MessageFacts, 'outcome' | 'reason'>): Attributes {
  return { 'handbill.channel': channel, 'handbill.campaign': campaign, 'handbill.environment': environment };
}

function reasonOf(reason: string | null): Attributes {
  return reason === null ? {} : { 'handbill.reason': reason };
}

function serverOf({ address, port }: RequestTarget): Attributes {
  return { 'http.request.method': 'POST', 'server.address': address, 'server.port': port };
}
