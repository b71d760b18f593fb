import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { Attempt } from '../model.ts';
import type { LogAbout } from '../operations/observer.ts';
import type { Otel } from './otel.ts';

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
export function requestAttributes({ url, address, port }: RequestTarget): Attributes {
  return { 'http.request.method': 'POST', 'url.full': url, 'server.address': address, 'server.port': port };
}

/** `error.type` of the conventions: the status where it is an error, else the code of the error; null: all is well. */
export function errorTypeOf({ status, error }: Attempt): string | null {
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
