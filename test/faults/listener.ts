import { appendFileSync, readFileSync } from 'node:fs';
import { performServerHandshake } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { behaviourOf } from './behaviours.ts';
import type { BadConnection } from './behaviours/behaviour.ts';
import { type Fill, play, type Stage } from './play.ts';

/** What one listener plays, on whom, and where it writes what it received. */
export interface ListenOptions {
  readonly behaviour: string;
  /** Address of the recipient who is hit, as it stands in the body. */
  readonly target: string;
  /** Hit on a connection that carried a request before, or on one that did not. */
  readonly connection: 'fresh' | 'reused';
  /** For bad connections: how many requests came before. */
  readonly after: number;
  readonly receipts: string;
  /** Default: any that is free. */
  readonly port?: number;
}

export interface Counts {
  /** Requests of the target that were hit, by what their connection was. */
  readonly hits: { readonly fresh: number; readonly reused: number };
  readonly badConnections: number;
  readonly requests: number;
  /** Connections that the second server saw. */
  readonly elsewhere: number;
}

export interface Listener {
  readonly port: number;
  /** From now on every answer is a proper one. */
  calm(): void;
  counts(): Counts;
  close(): void;
}

/** Time that the API takes for an answer, so that requests overlap where they may. */
const ANSWER_MS = 3;
/** A request whose body is longer is the large one of a target that is hit in the middle of it. */
const LARGE_BYTES = 32 * 1024;
const PLANTED = 'EVIL0000';

/** Opens one port where everybody gets a proper 202, but for what the behaviour says. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const behaviour = behaviourOf(options.behaviour);
  const sockets = new Set<Socket>();
  const hits = { fresh: 0, reused: 0 };
  let [number, requests, badConnections, elsewhere, sentBack] = [0, 0, 0, 0, 0];
  let calm = false;
  let dropped = options.connection === 'fresh';

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const second = createServer((socket) => {
    elsewhere += 1;
    keep(socket);
  });
  await listening(second, 0);

  const receive = (text: string, status: number | null, id: string | null, at = ++number): void => {
    requests += 1;
    appendFileSync(options.receipts, `${JSON.stringify({ number: at, status, id, text })}\n`);
  };
  const filler = (id: string, head: string): Fill => {
    const key = /^x-api-key: *(.*)$/im.exec(head)?.[1] ?? '';
    const values: Readonly<Record<string, string>> = {
      ID: id,
      PLANTED,
      ELSEWHERE: `http://127.0.0.1:${portOf(second)}`,
      KEY: key,
      KEY_URL: encodeURIComponent(key),
      KEY_BASE64: Buffer.from(key).toString('base64'),
      IN_A_DAY: new Date(Date.now() + 86_400_000).toUTCString(),
    };
    return (text) => text.replace(/\{([A-Z_0-9]+)\}/g, (whole, name: string) => values[name] ?? whole);
  };

  const isBad = (): boolean => {
    const bad = behaviour.connection;
    if (bad === undefined || calm || requests < options.after || !dropped) return false;
    if (badConnections >= (bad.times ?? 1)) return false;
    badConnections += 1;
    return true;
  };
  /** With used connections to be hit, all of them go before the bad ones come. */
  const dropUsed = (): boolean => {
    if (behaviour.connection === undefined || calm || dropped || requests < Math.max(1, options.after)) return false;
    dropped = true;
    return true;
  };

  /** A proper answer, and what is due on this connection afterwards. */
  const answer = (stage: Stage, request: Request): void => {
    const id = `m-${String(number + 1).padStart(6, '0')}`;
    // A used connection needs a first request: the first of a list is sent back once.
    const first = behaviour.connection !== undefined && options.connection === 'reused' && options.after === 0;
    const again = first && !dropped && !calm;
    receive(request.body, again ? 429 : 202, again ? null : id);
    const drop = dropUsed();
    setTimeout(() => {
      if (again) refuse(stage);
      else {
        const close = options.connection === 'fresh' ? 'connection: close\r\n' : '';
        const head = `HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\n${close}content-length: 17\r\n\r\n`;
        stage.socket.write(`${head}{"id":"${id}"}`);
      }
      if (options.connection === 'fresh') stage.socket.end();
      if (drop) for (const socket of sockets) socket.end();
    }, ANSWER_MS);
  };
  const refuse = ({ socket }: Stage): void => {
    socket.write('HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n');
  };
  const isTarget = (request: Request): boolean => {
    if (calm || behaviour.connection !== undefined) return false;
    if (hits.fresh + hits.reused >= (behaviour.times ?? Number.POSITIVE_INFINITY)) return false;
    return behaviour.at === 'half' ? request.length > LARGE_BYTES : request.body.includes(options.target);
  };

  /** What happens with the target's request; false when it is to be answered properly after all. */
  const hit = (stage: Stage, request: Request): boolean => {
    if (!isTarget(request)) return false;
    const used = request.ordinal > 1;
    if (options.connection === 'reused' && !used && sentBack < 2) {
      if (!request.complete) return true;
      sentBack += 1;
      receive(request.body, 429, null);
      refuse(stage);
      return true;
    }
    if (request.played) {
      if (request.complete) receive(request.body, behaviour.status, request.id, request.number);
      return true;
    }
    if (!request.complete && behaviour.at === 'request') return true;
    hits[used ? 'reused' : 'fresh'] += 1;
    number += 1;
    request.played = true;
    request.number = number;
    const id = `m-${String(number).padStart(6, '0')}`;
    request.id = behaviour.givesId === true ? id : null;
    if (request.complete) receive(request.body, behaviour.status, request.id, request.number);
    void play(behaviour.plays, stage, filler(id, request.head));
    return true;
  };

  const serve = (stage: Stage): void => {
    let received = Buffer.alloc(0);
    let ordinal = 1;
    let request: Request | null = null;
    stage.socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (;;) {
        request ??= headOf(received, ordinal);
        if (request === null) return;
        request.complete = received.length >= request.length;
        const half = received.length >= request.length / 2;
        request.body = received.toString('utf8', request.headLength, Math.min(received.length, request.length));
        if (!request.complete && !(half && behaviour.at === 'half')) return;
        const taken = hit(stage, request);
        if (!request.complete) return;
        if (!taken) answer(stage, request);
        received = received.subarray(request.length);
        request = null;
        ordinal += 1;
      }
    });
    stage.socket.on('end', () => stage.socket.end());
  };

  const refuseStreams = (socket: TLSSocket): void => {
    const refused = new Set<string>();
    const session = performServerHandshake(socket);
    session.on('error', () => {});
    session.on('stream', (stream) => {
      let body = '';
      stream.on('error', () => {});
      stream.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      stream.on('end', () => {
        const again = refused.has(body);
        refused.add(body);
        receive(body, again ? 202 : null, null);
        if (!again) return stream.close(REFUSED_STREAM);
        stream.respond({ ':status': 202 });
        stream.end();
      });
    });
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (bare) => {
    keep(bare);
    const bad = isBad() ? (behaviour.connection ?? null) : null;
    if (bad?.plays !== undefined) {
      bare.on('data', () => {});
      bare.on('end', () => bare.end());
      void play(bad.plays, { socket: bare, bare }, filler('', ''));
      return;
    }
    if (behaviour.secure === undefined) return serve({ socket: bare, bare });
    const socket = new TLSSocket(bare, tlsOptions(bad, behaviour.secure === 'h2'));
    socket.on('error', () => bare.destroy());
    // Handshakes through this constructor say `secure`; a client that was not let in never gets an answer.
    socket.on('secure', () => {
      if (bad?.clientCertificate === true) socket.destroy();
      else if (socket.alpnProtocol === 'h2') refuseStreams(socket);
      else serve({ socket, bare });
    });
  });
  await listening(server, options.port ?? 0);
  return {
    port: portOf(server),
    calm() {
      calm = true;
    },
    counts: () => ({ hits, badConnections, requests, elsewhere }),
    close() {
      for (const one of [server, second]) one.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One request while it comes in. */
interface Request {
  readonly head: string;
  readonly headLength: number;
  /** Bytes of all of it. */
  readonly length: number;
  /** Which one it is on its connection, from 1. */
  readonly ordinal: number;
  body: string;
  complete: boolean;
  played: boolean;
  number: number;
  id: string | null;
}

function headOf(received: Buffer, ordinal: number): Request | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = received.toString('latin1', 0, end);
  const body = Number(/^content-length: *([0-9]+)/im.exec(head)?.[1] ?? '0');
  const headLength = end + 4;
  return {
    head,
    headLength,
    length: headLength + body,
    ordinal,
    body: '',
    complete: false,
    played: false,
    number: 0,
    id: null,
  };
}

/** RFC 9113, section 7: the stream was not processed, so a client may send it again. */
const REFUSED_STREAM = 7;

function tlsOptions(bad: BadConnection | null, http2: boolean) {
  const name = bad?.certificate ?? 'localhost';
  const folder = new URL(`../fixtures/${name === 'untrusted' ? 'faults' : 'http'}/`, import.meta.url);
  const read = (ending: string) => readFileSync(new URL(`${name}.${ending}`, folder), 'utf8');
  const version = bad?.tls;
  return {
    isServer: true,
    secureContext: createSecureContext({
      key: read('key'),
      cert: read('crt'),
      ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
      ...(version === 'TLSv1.1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    }),
    requestCert: bad?.clientCertificate === true,
    rejectUnauthorized: bad?.clientCertificate === true,
    ...(http2 ? { ALPNProtocols: ['h2', 'http/1.1'] } : {}),
  };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
