import type { ServerResponse } from 'node:http';
import { HandbillError } from '../errors.ts';
import type { LedgerKeeper } from './ledger.ts';
import { partElement } from './pages/layout.ts';
import type { Made } from './site.ts';

export type Live = ReturnType<typeof createLive>;

/** Interval of checks whether the ledger has changed: one for all listeners, none without any. */
const TICK_MS = 400;
/** Making a page takes at most a tenth of the time. */
const SHARE_OF_TIME = 10;
/** Interval of checks for changes outside the ledger: a process that was killed, the rate of the last minute. */
const ANYWAY_MS = 5_000;
/** Detects closed connections by a write. */
const PING_MS = 15_000;
/** A listener that is this far behind is closed: it connects again. */
const MOST_BEHIND_BYTES = 4 << 20;
/** One stream more closes the oldest of the client with the most streams, so that one client cannot shut out others. */
const MOST_LISTENERS = 500;

type Group = ReturnType<typeof newGroup>;

function newGroup(make: () => Promise<Made>) {
  return {
    make,
    listeners: new Set<ServerResponse>(),
    sent: new Map<string, string>(),
    said: undefined as string | undefined,
    mark: '',
    isOld: true,
    isMaking: false,
    madeMs: 0,
    restUntilMs: 0,
  };
}

/** Sends changed parts to the open pages of runs in progress. */
export function createLive(keeper: Pick<LedgerKeeper, 'mark'>) {
  const groups = new Map<string, Group>();
  /** Streams by age, the oldest first, with the address of the client. */
  const clients = new Map<ServerResponse, string>();
  let timer: NodeJS.Timeout | null = null;
  let pingedMs = 0;

  const tick = (): void => {
    const nowMs = performance.now();
    const mark = keeper.mark();
    for (const group of groups.values()) {
      const isDue = group.mark !== mark || group.isOld || nowMs - group.madeMs >= ANYWAY_MS;
      if (isDue && !group.isMaking && nowMs >= group.restUntilMs) void remake(group, mark);
    }
    if (nowMs - pingedMs < PING_MS) return;
    pingedMs = nowMs;
    for (const { listeners } of groups.values()) for (const one of listeners) send(one, ': still here\n\n');
  };

  const remake = async (group: Group, mark: string): Promise<void> => {
    const beganMs = performance.now();
    group.isMaking = true;
    group.mark = mark;
    try {
      const { content, isOld } = await group.make();
      group.isOld = isOld;
      const parts = content.parts.flatMap((part) =>
        part.isLive ? [[part.id, partElement(part).markup] as const] : [],
      );
      const changed = parts.filter(([id, markup]) => group.sent.get(id) !== markup);
      for (const [id, markup] of changed) group.sent.set(id, markup);
      const isSaid = content.said !== group.said;
      group.said = content.said;
      if (changed.length > 0 || isSaid) broadcast(group, partsEvent(changed, group.said));
    } catch (error) {
      group.isOld = true;
      const why = error instanceof HandbillError ? error.message : 'This page cannot be made now.';
      broadcast(group, `event: trouble\ndata: ${JSON.stringify({ text: why })}\n\n`);
    }
    group.isMaking = false;
    group.madeMs = performance.now();
    group.restUntilMs = beganMs + (group.madeMs - beganMs) * (SHARE_OF_TIME + 1);
  };

  const leave = (key: string, group: Group, outgoing: ServerResponse): void => {
    if (!group.listeners.delete(outgoing)) return;
    clients.delete(outgoing);
    if (group.listeners.size === 0 && groups.get(key) === group) groups.delete(key);
    if (clients.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    get listeners(): number {
      return clients.size;
    },
    /**
     * Begins a stream of events. Listeners with the same key share each page.
     * @param make the current page
     */
    listen(key: string, outgoing: ServerResponse, make: () => Promise<Made>): void {
      if (clients.size >= MOST_LISTENERS) oldestOfMost(clients)?.destroy();
      const group = groups.get(key) ?? newGroup(make);
      groups.set(key, group);
      group.listeners.add(outgoing);
      clients.set(outgoing, outgoing.socket?.remoteAddress ?? '');
      outgoing.on('close', () => leave(key, group, outgoing));
      outgoing.writeHead(200, STREAM_HEADERS);
      outgoing.write('retry: 2000\n\n');
      // Its content may be older than the updates that the others have got since.
      if (group.sent.size > 0) send(outgoing, partsEvent([...group.sent], group.said));
      timer ??= setInterval(tick, TICK_MS);
    },
    close(): void {
      if (timer !== null) clearInterval(timer);
      timer = null;
      for (const { listeners } of groups.values()) for (const one of listeners) one.end();
      groups.clear();
    },
  };
}

function oldestOfMost(clients: ReadonlyMap<ServerResponse, string>): ServerResponse | undefined {
  const counts = new Map<string, number>();
  for (const client of clients.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...clients].find(([, client]) => counts.get(client) === most)?.[0];
}

const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Accel-Buffering': 'no',
  Connection: 'keep-alive',
} as const;

function partsEvent(parts: readonly (readonly [id: string, markup: string])[], said: string | undefined): string {
  return `event: parts\ndata: ${JSON.stringify({ parts, said: said ?? '' })}\n\n`;
}

function broadcast({ listeners }: Group, text: string): void {
  for (const one of listeners) send(one, text);
}

function send(outgoing: ServerResponse, text: string): void {
  if (outgoing.writableLength > MOST_BEHIND_BYTES) outgoing.destroy();
  else outgoing.write(text);
}
