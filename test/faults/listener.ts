import { appendFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Said } from '../oracle/receipts.ts';
import type { BadConnection } from './behaviours/behaviour.ts';
import { behaviourOf } from './behaviours.ts';
import { type Fill, play, type Stage } from './play.ts';
import { createReader, type Request } from './requests.ts';
import { offerHttp2, wrap } from './secure.ts';

/** What one listener plays, on which recipient, and where it writes what it received. */
export interface ListenOptions {
  readonly behaviour: string;
  /** Address of the recipient who is hit, as it is in the body. */
  readonly target: string;
  /** Hit on a connection that carried a request before, or on one that did not. */
  readonly connection: 'fresh' | 'reused';
  /** For bad connections: how many requests came before. */
  readonly after: number;
  /** For bad connections: all of them are. */
  readonly everyConnection?: boolean;
  readonly receipts: string;
  /** Default: any that is free. */
  readonly port?: number;
}

export interface Counts {
  /** Requests of the target that were hit, by what their connection was. */
  readonly hits: { readonly fresh: number; readonly reused: number };
  readonly badConnections: number;
  readonly requests: number;
  readonly connections: number;
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
/** A request that is longer is the large one of a target that is hit in the middle of it. */
const LARGE_BYTES = 64 * 1024;
/** An id that no recipient may ever get. */
export const PLANTED = 'EVIL0000';

/** Opens one port where every recipient gets a proper 202, but for what the behaviour says. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const behaviour = behaviourOf(options.behaviour);
  const reused = options.connection === 'reused';
  const open = new Set<Socket>();
  const hits = { fresh: 0, reused: 0 };
  const counts = { hits, badConnections: 0, requests: 0, connections: 0, elsewhere: 0 };
  let [number, sentBack] = [0, 0];
  let calm = false;

  const elsewhere = createServer((socket) => {
    counts.elsewhere += 1;
    socket.destroy();
  });
  await listening(elsewhere, 0);

  /** Written before anything of the answer is. */
  const receive = (body: string, status: number | null, id: string | null, at = ++number, said?: Said): void => {
    counts.requests += 1;
    const each = said === undefined ? {} : { each: [{ said, id }] };
    appendFileSync(options.receipts, `${JSON.stringify({ number: at, status, id, text: body, ...each })}\n`);
  };
  const fill = (id: string, head: string): Fill => createFill(id, head, portOf(elsewhere));

  /** A proper answer; what is sent back is a refusal that asks to come again. */
  const answer = (stage: Stage, request: Request, sendBack: boolean, close: boolean): void => {
    // It crossed with the end of its connection: it cannot be answered any more.
    if (stage.socket.writableEnded) {
      receive(request.body, null, null);
      return;
    }
    const leaves = behaviour.connection?.leaves === undefined ? null : takeBad();
    const id = idOf(number + 1);
    receive(request.body, sendBack ? 429 : 202, sendBack ? null : id);
    const body = sendBack ? '' : `{"id":"${id}"}`;
    const headers = [
      sendBack ? 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 0' : 'HTTP/1.1 202 Accepted',
      'content-type: application/json',
      `content-length: ${body.length}`,
      ...(close && leaves === null ? ['connection: close'] : []),
    ];
    setTimeout(() => {
      stage.socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
      if (leaves?.leaves === 'reset') stage.bare.resetAndDestroy();
      else if (close || leaves !== null) stage.socket.end();
    }, ANSWER_MS);
  };

  // Requests that are hit.

  const isTarget = (request: Request): boolean => {
    if (calm || behaviour.at === 'connection') return false;
    if (hits.fresh + hits.reused >= (behaviour.times ?? Number.POSITIVE_INFINITY)) return false;
    return behaviour.at === 'half' ? request.length > LARGE_BYTES : request.body.includes(options.target);
  };
  const strike = (stage: Stage, request: Request): void => {
    const { begun } = request;
    if (begun !== null) {
      if (request.complete) receive(request.body, behaviour.status, begun.id, begun.number, behaviour.said);
      return;
    }
    if (!request.complete && behaviour.at !== 'half') return;
    const used = request.ordinal > 1;
    // The target came on a connection that carried nothing yet: it is to come again.
    if (reused && !used && sentBack < 2) {
      if (!request.complete) return;
      sentBack += 1;
      answer(stage, request, true, false);
      return;
    }
    hits[used ? 'reused' : 'fresh'] += 1;
    const id = idOf(++number);
    request.begun = { number, id: behaviour.givesId === true ? id : null };
    if (request.complete) receive(request.body, behaviour.status, request.begun.id, number, behaviour.said);
    void play(behaviour.plays, stage, fill(id, request.head));
  };
  const serve = (stage: Stage, wasBefore: boolean): void => {
    const read = createReader();
    stage.socket.on('data', (chunk) => {
      for (const request of read(chunk)) {
        if (isTarget(request)) strike(stage, request);
        else if (request.complete) {
          const enough = behaviour.connection?.leaves === undefined && badMayCome(counts.requests + 1);
          // Used connections go before the bad ones come, and the server says so; a list that begins with a bad one after
          // a used one begins with a refusal.
          const sendBack = enough && wasBefore && reused && options.after === 0;
          answer(stage, request, sendBack, !reused || (enough && wasBefore));
        }
      }
    });
    stage.socket.on('end', () => stage.socket.end());
  };

  // Connections that are bad.

  const badMayCome = (requests = counts.requests): boolean =>
    behaviour.connection !== undefined && !calm && requests >= options.after + (reused && options.after === 0 ? 1 : 0);
  const takeBad = (): BadConnection | null => {
    const bad = behaviour.connection;
    const most = options.everyConnection === true ? Number.POSITIVE_INFINITY : (bad?.times ?? 1);
    if (bad === undefined || !badMayCome() || counts.badConnections >= most) return null;
    counts.badConnections += 1;
    return bad;
  };
  const playBad = (bad: BadConnection, stage: Stage): void => {
    const read = createReader();
    const id = bad.answersEarly === true ? idOf(++number) : null;
    let early = id;
    stage.socket.on('data', (chunk) => {
      for (const request of read(chunk)) {
        if (!request.complete) continue;
        if (early === null && id !== null) answer(stage, request, false, false);
        else receive(request.body, early === null ? null : 202, early);
        early = null;
      }
    });
    stage.socket.on('end', () => stage.socket.end());
    void play(bad.plays ?? [], stage, fill(id ?? PLANTED, ''));
  };

  const takeHttp2 = offerHttp2(
    (socket) => serve({ socket, bare: socket }, !badMayCome()),
    (body, status) => receive(body, status, null),
  );
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (bare) => {
    counts.connections += 1;
    open.add(bare);
    bare.on('error', () => {});
    bare.on('close', () => open.delete(bare));
    // Asked where it is accepted: on a busy machine a handshake may end after the bad connections began, and a connection
    // that stayed open from then on would take all requests that are left.
    const wasBefore = !badMayCome();
    const bad = behaviour.connection?.leaves === undefined ? takeBad() : null;
    if (bad?.plays !== undefined) return playBad(bad, { socket: bare, bare });
    if (behaviour.secure === undefined) return serve({ socket: bare, bare }, wasBefore);
    if (behaviour.secure === 'h2') return takeHttp2(bare);
    const socket = wrap(bare, bad);
    socket.on('error', () => bare.destroy());
    socket.on('secure', () => {
      // A client that should have shown a certificate never gets an answer.
      if (bad?.clientCertificate === true) socket.destroy();
      else serve({ socket, bare }, wasBefore);
    });
  });
  await listening(server, options.port ?? 0);
  return {
    port: portOf(server),
    calm() {
      calm = true;
    },
    counts: () => counts,
    close() {
      for (const one of [server, elsewhere]) one.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Eight characters, so that the lengths of answers can be written down. */
function idOf(number: number): string {
  return `m-${String(number).padStart(6, '0')}`;
}

function createFill(id: string, head: string, elsewhere: number): Fill {
  const key = /^x-api-key: *(.*)$/im.exec(head)?.[1] ?? '';
  const values: Readonly<Record<string, string>> = {
    ID: id,
    PLANTED,
    ELSEWHERE: `http://127.0.0.1:${elsewhere}`,
    KEY: key,
    KEY_URL: encodeURIComponent(key),
    KEY_BASE64: Buffer.from(key).toString('base64'),
    IN_A_DAY: new Date(Date.now() + 86_400_000).toUTCString(),
  };
  return (text) => text.replace(/\{([A-Z_0-9]+)\}/g, (whole, name: string) => values[name] ?? whole);
}

async function listening(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
