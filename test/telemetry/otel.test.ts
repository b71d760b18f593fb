import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { INSTRUMENTS } from '../../src/telemetry/otel.ts';
import { type CliResult, runCli, SOURCE, startCli, until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { accepting, answer, closedPort, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { filesWith, KEY, NUMBERS, TEXT } from './campaign-files.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

const PRODUCTION = ['--env', 'production', '--yes'];
const PRELOAD = join(import.meta.dirname, 'module-preload.mjs');

function variables(url: string): Record<string, string> {
  return {
    HANDBILL_API_KEY: KEY,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
}

describe('a campaign of which one request is refused once and another for good', () => {
  let collector: OtlpReceiver;
  let api: RawServer;
  let project: TestProject;
  let sent: CliResult;

  beforeAll(async () => {
    collector = await startOtlpReceiver();
    api = await startRawServer();
    let isFirst = true;
    const accept = accepting();
    api.behaviour = (request) => {
      if (request.body.includes('900002')) answer(400, '{"message":"no"}')(request);
      else if (isFirst) answer(429, '{}')(request);
      else accept(request);
      isFirst = false;
    };
    project = createProject(filesWith(api.url));
    sent = await runCli(['send', 'hello', ...PRODUCTION], {
      cwd: project.root,
      env: {
        ...variables(collector.url),
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    });
  });
  afterAll(async () => {
    project[Symbol.dispose]();
    await Promise.all([collector.close(), api.close()]);
  });

  const named = (name: string) => collector.spans().filter((span) => span.name === name);

  it('is sent as ever', () => {
    expect(sent).toMatchObject({ status: 3, stderr: '' });
    expect(sent.stdout).toContain('accepted  1');
  });

  it('is a trace: the command, and in it the check pass and the run', () => {
    const [command] = named('handbill send');
    expect(command).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      attributes: { 'process.exit.code': 3, 'error.type': '3' },
    });
    for (const name of ['check', 'run']) {
      expect(named(name), name).toMatchObject([
        {
          parentSpanId: command?.spanId,
          attributes: {
            'handbill.campaign': 'hello',
            'handbill.environment': 'production',
            'handbill.occurrence': 'once',
          },
        },
      ]);
    }
  });

  it('has a trace for each request, linked to its run, by the conventions of HTTP clients', () => {
    const [run] = named('run');
    const posts = named('POST');
    expect(posts.map(({ attributes }) => attributes['http.response.status_code']).sort()).toEqual([202, 400, 429]);
    expect(new Set(posts.map(({ traceId }) => traceId)).size).toBe(3);
    for (const { kind, links, attributes, parentSpanId = '' } of posts) {
      expect(kind).toBe(3);
      expect(parentSpanId).toBe('');
      expect(links).toMatchObject([{ spanId: run?.spanId }]);
      expect(attributes).toMatchObject({
        'http.request.method': 'POST',
        'url.full': api.url,
        'server.address': '127.0.0.1',
        'server.port': api.port,
      });
    }
    const refused = posts.filter(({ status }) => status.code === 2);
    expect(refused.map(({ attributes }) => attributes['error.type']).sort()).toEqual(['400', '429']);
  });

  it('counts messages, retries, requests and parts', () => {
    const messages = collector.points('handbill.messages').map(({ attributes, value }) => {
      return [attributes['handbill.outcome'], attributes['handbill.reason'], attributes['handbill.channel'], value];
    });
    expect(messages.sort()).toEqual([
      ['accepted', undefined, 'sms', 1],
      ['rejected', 'status', 'sms', 1],
      ['skipped', 'duplicate', 'sms', 1],
    ]);
    expect(collector.points('handbill.retries')).toMatchObject([{ value: 1 }]);
    expect(collector.points('handbill.message.parts')).toMatchObject([{ value: 1 }]);
    const requests = collector.points('http.client.request.duration');
    expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(3);
    expect(collector.points('http.client.active_requests')).toMatchObject([{ value: 0 }]);
  });

  it('names itself, and says nothing of the machine that was not asked for', () => {
    expect(collector.resource()).toMatchObject({ 'service.name': 'handbill', 'deployment.environment.name': 'test' });
    expect(Object.keys(collector.resource()).filter((name) => /^(process|host|os)\./.test(name))).toEqual([]);
  });

  it('does not tell who was sent to, nor what, nor the key', () => {
    const all = collector.bodies.join('\n');
    expect(all).not.toMatch(NUMBERS);
    expect(all).not.toContain(KEY);
    expect(all).not.toContain(TEXT);
  });

  it('adds nothing to the requests', () => {
    expect(api.requests).toHaveLength(3);
    for (const { head } of api.requests) expect(head.toLowerCase()).not.toMatch(/traceparent|tracestate|baggage|b3/);
  });

  it('has no undocumented metric', () => {
    const known = new Set<string>(Object.keys(INSTRUMENTS));
    expect(collector.metricNames().filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('a collector that harms nothing', () => {
  test.concurrent.each<[label: string, respond: Parameters<typeof startOtlpReceiver>[0] | 'nobody']>([
    ['is not there', 'nobody'],
    ['answers nonsense', (response) => void response.end('<html>\u001b[2J no')],
  ])('%s', async (_label, respond) => {
    const collector = respond === 'nobody' ? null : await startOtlpReceiver(respond);
    using project = createProject(filesWith());
    try {
      const url = collector?.url ?? `http://127.0.0.1:${await closedPort()}`;
      const often = { OTEL_BSP_SCHEDULE_DELAY: '5', OTEL_METRIC_EXPORT_INTERVAL: '50' };
      const sent = await runCli(['send', 'hello'], { cwd: project.root, env: { ...variables(url), ...often } });
      expect(sent.status).toBe(0);
      expect(sent.stdout).toContain('accepted  2');
      expect(sent.stderr).toMatch(/^(warning: OpenTelemetry data is not delivered: [\x20-\x7e]*\n)?$/);
    } finally {
      await collector?.close();
    }
  });

  test.concurrent('never answers: it is waited for five seconds, once everything is printed', async () => {
    const collector = await startOtlpReceiver(() => undefined);
    using project = createProject(filesWith());
    try {
      const options = { cwd: project.root, env: variables(collector.url) };
      const quiet = runCli(['send', 'hello', '--quiet', '--occurrence', 'quiet'], options);
      const sending = startCli(['send', 'hello'], options);
      await until('the report is there', () => sending.stdout().includes('accepted  2'));
      const printedMs = performance.now();
      const { status, stderr } = await sending.done;
      expect(status).toBe(0);
      expect(stderr).toMatch(/^warning: OpenTelemetry data is not delivered: .* within 5 s of the end\.\n$/);
      expect(performance.now() - printedMs).toBeLessThan(10_000);
      expect(await quiet).toMatchObject({ status: 0, stdout: '', stderr: '' });
    } finally {
      await collector.close();
    }
  });

  test.concurrent('gets what there is when a signal ends the start', async () => {
    const collector = await startOtlpReceiver();
    const api = await startRawServer({ behaviour: () => undefined });
    using project = createProject(filesWith(api.url));
    try {
      const sending = startCli(['send', 'hello', ...PRODUCTION], { cwd: project.root, env: variables(collector.url) });
      await until('a request is under way', () => api.requests.length > 0);
      sending.kill('SIGINT');
      await until('it has heard it', () => sending.stderr().includes('once more'));
      sending.kill('SIGINT');
      expect((await sending.done).status).toBe(130);
      const [command] = collector.spans().filter(({ name }) => name === 'handbill send');
      expect(command?.attributes['process.exit.code']).toBe(130);
      const doubts = collector
        .points('handbill.messages')
        .filter((one) => one.attributes['handbill.outcome'] === 'in-doubt');
      expect(doubts).toMatchObject([{ value: 1 }]);
    } finally {
      await Promise.all([collector.close(), api.close()]);
    }
  });
});

describe('what is loaded', () => {
  const run = async (env: Record<string, string>, args: readonly string[] = []) => {
    using project = createProject(filesWith());
    const modules = project.path('modules');
    const options = { NODE_OPTIONS: `--import ${PRELOAD}`, MODULES_FILE: modules, ...env };
    // Of a build, modules have no names of their own.
    const ended = await runCli(['send', 'hello', ...args], { cwd: project.root, env: options, script: SOURCE });
    const loaded = existsSync(modules) ? readFileSync(modules, 'utf8').trim().split('\n') : [];
    const extra = loaded
      .filter((url) => /telemetry|prom-client/.test(url))
      .map((url) => url.replace(/^.*\/(src|node_modules)\//, ''));
    return { ...ended, loaded, extra: [...new Set(extra)].sort() };
  };
  /** What looks whether it was asked for, and the options themselves. */
  const LOOKS = ['cli/shared/telemetry-frame.ts'];

  test.concurrent('no OpenTelemetry where nothing is asked for', async () => {
    const { status, extra, loaded } = await run({});
    expect(status).toBe(0);
    expect(loaded.length).toBeGreaterThan(50);
    expect(extra).toEqual(LOOKS);
  });

  test.concurrent('no OpenTelemetry for a log and a metrics file, where it is switched off', async () => {
    const off = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const { extra } = await run(off, ['--log', 'run.log', '--metrics-file', 'hello.prom']);
    expect(extra).toContain('telemetry/log.ts');
    expect(extra.some((path) => path.startsWith('prom-client/'))).toBe(true);
    // prom-client brings the API, which does nothing by itself.
    expect(extra.filter((path) => /opentelemetry\/(?!api\/)/.test(path))).toEqual([]);
  });

  test.concurrent('where the packages are not installed, one warning says what to install', async () => {
    const env = { WITHOUT_OTEL: '1', OTEL_TRACES_EXPORTER: 'otlp' };
    const { status, stderr, stdout } = await run(env);
    expect(status).toBe(0);
    expect(stdout).toContain('accepted  2');
    expect(stderr).toBe(
      'warning: OTEL_TRACES_EXPORTER asks for OpenTelemetry, but its packages are not installed: ' +
        'npm install @opentelemetry/sdk-node\n',
    );
  });
});
