import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** A span, as OTLP has it in JSON. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly spanId: string; readonly traceId: string }[];
  readonly status: { readonly code: number };
}

export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number;
}

/** A collector: takes OTLP over HTTP with JSON, and remembers what it was sent. */
export interface OtlpReceiver {
  readonly url: string;
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  spans(): readonly ReceivedSpan[];
  /** The points of a metric in what was sent last. */
  points(metric: string): readonly ReceivedPoint[];
  metricNames(): readonly string[];
  resource(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** @param respond instead of the answer that says that all is well */
export async function startOtlpReceiver(
  respond: (response: ServerResponse) => void = wellReceived,
): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      headers.push(request.headers);
      respond(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const read = () => bodies.map((body) => JSON.parse(body) as Sent);
  const metrics = () =>
    read().flatMap(({ resourceMetrics = [] }) => resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics));
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    bodies,
    headers,
    spans: () =>
      read()
        .flatMap(({ resourceSpans = [] }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans.map((span) => ({ ...span, attributes: plain(span.attributes) }))),
    points(name) {
      const found = metrics().flatMap(({ metrics: all }) => all.filter((metric) => metric.name === name));
      const { sum, gauge, histogram } = found.at(-1) ?? {};
      return ((sum ?? gauge ?? histogram)?.dataPoints ?? []).map(({ attributes, asDouble, asInt, count }) => ({
        attributes: plain(attributes),
        value: Number(asDouble ?? asInt ?? count),
      }));
    },
    metricNames: () => [...new Set(metrics().flatMap(({ metrics: all }) => all.map(({ name }) => name)))].sort(),
    resource: () => plain(read().flatMap(({ resourceSpans = [] }) => resourceSpans)[0]?.resource.attributes ?? []),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function wellReceived(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end('{}');
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];

interface Points {
  readonly dataPoints: readonly {
    readonly attributes: Attributes;
    readonly asDouble?: number;
    readonly asInt?: string;
    readonly count?: string;
  }[];
}

interface Sent {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes'> & { attributes: Attributes })[];
    }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly sum?: Points;
        readonly gauge?: Points;
        readonly histogram?: Points;
      }[];
    }[];
  }[];
}

function plain(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
