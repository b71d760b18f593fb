import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { CLI } from './measure.ts';

/** What `handbill listen` does with events that come one by one, each in a signed request. */
export interface Received {
  /** Answered with 200, over the time that it took. */
  readonly perSecond: number;
  /** Between request and answer. */
  readonly p99Ms: number;
  /** User and system time of the process, its start included. */
  readonly cpuUs: number;
  readonly peakBytes: number;
}

export interface Load {
  readonly events: number;
  /** Events that are begun each second; null: as many as are answered. */
  readonly perSecond: number | null;
  /** Connections that send a byte now and then and never end, and come again when they are closed. */
  readonly silent: number;
}

const CONNECTIONS = 32;
const SECRET = randomBytes(32);

/** Runs `handbill listen` in a process of its own, with a new ledger, under a load. Throws when anything is not answered 200. */
export async function loadListen(folder: string, { events, perSecond, silent }: Load): Promise<Received> {
  const own = join(folder, `listen-${randomBytes(4).toString('hex')}`);
  await mkdir(own);
  await writeFile(
    join(own, 'handbill.yaml'),
    'environments: { sandbox: { webhook: { secrets: [{ env: SECRET }] } } }\n',
  );
  const usage = join(own, 'usage.json');
  const args = ['--require', join(import.meta.dirname, 'usage.cjs'), CLI, 'listen', '--port', '0'];
  const child = spawn(process.execPath, args, {
    cwd: own,
    env: { ...process.env, SECRET: SECRET.toString('base64'), HANDBILL_BENCH_USAGE: usage },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await urlOf(child.stdout);
  const crowd = await openSilent(Number(new URL(url).port), silent);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < events) {
      const n = next++;
      const due = perSecond === null ? 0 : startedAt + (n / perSecond) * 1000 - performance.now();
      if (due > 1) await new Promise((resolve) => setTimeout(resolve, due));
      const began = performance.now();
      const status = await post(url, agent, n);
      if (status !== 200) throw new Error(`Event ${n} was answered with ${status}.`);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  crowd.close();
  agent.destroy();
  child.kill('SIGTERM');
  await once(child, 'close');
  const { cpuUs, peakBytes } = JSON.parse(await readFile(usage, 'utf8')) as { cpuUs: number; peakBytes: number };
  latencies.sort((a, b) => a - b);
  return { perSecond: events / seconds, p99Ms: latencies[Math.floor(events * 0.99)] ?? Number.NaN, cpuUs, peakBytes };
}

async function urlOf(stdout: Readable): Promise<string> {
  let said = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    const url = /http:\/\/\S+/.exec(said)?.[0];
    if (url !== undefined && said.includes('Ctrl-C')) return url;
  }
  throw new Error(`handbill listen did not start: ${said}`);
}

function post(url: string, agent: Agent, n: number): Promise<number> {
  const body = JSON.stringify({
    messageId: `msg-${n}`,
    to: `4477009${String(n).padStart(5, '0')}`,
    status: 'delivered',
    timestamp: new Date().toISOString(),
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`evt-${n}.${timestamp}.${body}`).digest('base64');
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'webhook-id': `evt-${n}`,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function openSilent(port: number, count: number): Promise<{ close(): void }> {
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /webhooks HTTP/1.1\r\nHost: x\r\n');
    return socket;
  };
  const sockets = Array.from({ length: count }, open);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const timer = setInterval(() => {
    for (const [i, socket] of sockets.entries()) {
      if (socket.destroyed) sockets[i] = open();
      else socket.write('X-A: b\r\n');
    }
  }, 1_000);
  return {
    close() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
