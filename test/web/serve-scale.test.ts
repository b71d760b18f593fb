import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Html } from '../../src/util/escape.ts';
import { createLive } from '../../src/web/live.ts';
import { until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { ask, NOW, numberOf, openStream, recordRun, type Stream, servePages, withLedger } from './serve-ledger.ts';

const ROWS = 100_000;

let project: TestProject;
let run: string;
beforeAll(() => {
  project = createProject({ 'handbill.yaml': '' });
  run = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
    const rows = Array.from({ length: ROWS }, (_, i) =>
      i === ROWS - 5 ? { state: 'rejected' as const, reason: 'status' } : { variant: i % 2 === 0 ? 'a' : 'b' },
    );
    return recordRun(ledger, { campaign: 'large' }, rows).id;
  });
});
afterAll(() => project[Symbol.dispose]());

const rowsIn = (text: string) =>
  [...text.matchAll(/<th scope="row"><a href="[^"]+\/recipients\/(\d+)"/g)].map(([, row]) => Number(row));
const linkOf = (text: string, name: string) =>
  new RegExp(`<a class="button" href="([^"]+)">${name}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;

describe(`${ROWS} recipients`, () => {
  it('are read by pages that cost the same wherever they are, forwards and backwards', async () => {
    await using pages = await servePages(project.root);
    const timed = async (path: string) => {
      const began = performance.now();
      const { text } = await ask(pages.port, path);
      return { text, ms: performance.now() - began };
    };
    await timed(`/runs/${run}/recipients`);
    const first = await timed(`/runs/${run}/recipients`);
    const last = await timed(`/runs/${run}/recipients?after=${ROWS - 51}`);
    expect(rowsIn(first.text)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(rowsIn(last.text).at(-1)).toBe(ROWS - 1);
    expect(linkOf(last.text, 'Next page')).toBeNull();
    expect(last.ms).toBeLessThan(Math.max(500, first.ms * 5));
    const back = await timed(linkOf(last.text, 'Previous page') ?? '');
    expect(rowsIn(back.text)).toEqual(Array.from({ length: 50 }, (_, i) => ROWS - 100 + i));
    const forth = await timed(linkOf(back.text, 'Next page') ?? '');
    expect(rowsIn(forth.text)).toEqual(rowsIn(last.text));
  });

  it('lose no recipient between two pages of a filter', async () => {
    await using pages = await servePages(project.root);
    const seen: number[] = [];
    let path: string | null = `/runs/${run}/recipients?variant=b&after=${ROWS - 1_001}`;
    while (path !== null) {
      const { text }: { text: string } = await ask(pages.port, path);
      seen.push(...rowsIn(text));
      path = linkOf(text, 'Next page');
    }
    const wanted = Array.from({ length: 1_000 }, (_, i) => ROWS - 1_000 + i).filter(
      (row) => row % 2 === 1 && row !== ROWS - 5,
    );
    expect(seen).toEqual(wanted);
  });

  it.each([
    ['a number', `q=${encodeURIComponent(numberOf(ROWS - 2))}`, ROWS - 2],
    ['an id of the API', `q=m-${ROWS - 7}`, ROWS - 7],
    ['the only one that was refused', 'outcome=rejected', ROWS - 5],
  ])('are searched for %s in a moment', async (_label, query, row) => {
    await using pages = await servePages(project.root);
    const began = performance.now();
    const { text } = await ask(pages.port, `/runs/${run}/recipients?${query}`);
    expect(rowsIn(text)).toEqual([row]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('keep no request waiting while they are counted', async () => {
    await using pages = await servePages(project.root);
    const counting = ask(pages.port, `/runs/${run}`);
    const icon = ask(pages.port, '/favicon.ico');
    // However busy the machine is: what needs no pass over the list is not behind one.
    const first = await Promise.race([counting.then(() => 'the run'), icon.then(() => 'the icon')]);
    expect([first, (await icon).status]).toEqual(['the icon', 204]);
    // The outcomes are there at once; deliveries and times take the scan.
    expect((await counting).text).toContain('99,999');
    await expect
      .poll(async () => (await ask(pages.port, `/runs/${run}`)).text, { timeout: 60_000 })
      .not.toContain('this scans all recipients');
  });
});

describe('200 streams of events', () => {
  it('are all told what is new, share one look at the ledger, and end with the pages', async () => {
    const pages = await servePages(project.root);
    // Beyond 100 connections, one without its request after 250 ms is closed: on a busy machine, one asks again, as a
    // browser does.
    const asking = async <T>(ask: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await ask();
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
        }
      }
    };
    const streams: Stream[] = [];
    while (streams.length < 200) streams.push(await asking(() => openStream(pages.port, '/')));
    await until('the list', () => streams.every(({ text }) => text().includes('large')), 30_000);
    withLedger(project.path('.handbill/ledger.db'), (ledger) =>
      recordRun(ledger, { campaign: 'newer', atMs: NOW + 9e6 }, [{}]),
    );
    await until('the new run', () => streams.every(({ text }) => text().includes('newer')), 30_000);
    const parts = streams.map(({ text }) => text().match(/event: parts/g)?.length ?? 0);
    expect(Math.max(...parts)).toBeLessThan(20);
    // Pages are served meanwhile.
    expect((await asking(() => ask(pages.port, '/'))).status).toBe(200);
    streams[0]?.close();
    await pages.close();
    await Promise.all(streams.slice(1).map(({ ended }) => ended));
  });

  it('of one client do not shut others out: with one more than 500 the oldest goes', async () => {
    const live = createLive({ mark: () => 'mark' });
    const content = { title: 'x', parts: [{ id: 'a', content: new Html('b'), isLive: true }] };
    const server = createServer((_, outgoing) => live.listen('x', outgoing, async () => ({ content, isOld: false })));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const first = await openStream(port, '/');
    const others = await Promise.all(Array.from({ length: 499 }, () => openStream(port, '/')));
    const last = await openStream(port, '/');
    await first.ended;
    await until('what the last is told', () => last.text().includes('event: parts'), 20_000);
    expect(live.listeners).toBe(500);
    for (const stream of [...others, last]) stream.close();
    live.close();
    server.closeAllConnections();
    server.close();
  });

  it('ask nothing of the ledger when no browser is open, and ask once for all that are', async () => {
    let asked = 0;
    const mark = () => `mark ${Math.floor(++asked / 3)}`;
    const content = { title: 'x', parts: [{ id: 'a', content: new Html('b'), isLive: true }] };
    const live = createLive({ mark });
    const server = createServer((_, outgoing) => live.listen('x', outgoing, async () => ({ content, isOld: false })));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const streams = await Promise.all(Array.from({ length: 30 }, () => openStream(port, '/')));
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(streams.every(({ text }) => text().includes('event: parts'))).toBe(true);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(6);
    for (const stream of streams) stream.close();
    await until('nobody', () => live.listeners === 0);
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(asked).toBe(before);
    live.close();
    server.close();
  });
});
