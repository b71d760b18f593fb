import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../helpers/cli.ts';

const NAMES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** What a page did when it was opened. */
export interface Opened {
  /** Texts of dialogs (`alert` and the like). */
  readonly dialogs: readonly string[];
  /** Addresses of everything that the page asked for apart from itself. */
  readonly requests: readonly string[];
  /** What it wrote to the console, refusals by its content security policy among them. */
  readonly logged: readonly string[];
  /** The words of the page as they are shown. */
  readonly text: string;
}

/** A Chromium without a window. */
export interface Browser extends AsyncDisposable {
  /** Opens a file and waits for a moment, so that what it wants to do is done. */
  open(file: string): Promise<Opened>;
}

/**
 * Starts Chromium and talks to it over its debugging protocol.
 *
 * @throws Error where there is none: it is part of what the full set needs, and a proof must not be left out in silence
 */
export async function startBrowser(): Promise<Browser> {
  const program = NAMES.find((name) => existsSync(name));
  if (program === undefined) throw new Error('The full set needs Chromium: apt-get install chromium');
  const profile = mkdtempSync(join(tmpdir(), 'handbill-chromium-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', '--no-first-run'];
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage'];
  const child = spawn(program, [...flags, ...quiet, `--user-data-dir=${profile}`, 'about:blank'], { stdio: 'ignore' });
  const port = join(profile, 'DevToolsActivePort');
  await until('Chromium', () => existsSync(port) && readFileSync(port, 'utf8').includes('\n'), 60_000);
  const [number, path] = readFileSync(port, 'utf8').split('\n');
  const wire = await connect(`ws://127.0.0.1:${number}${path}`);
  return {
    open: async (file) => await openPage(wire, file),
    async [Symbol.asyncDispose]() {
      wire.close();
      await ended(child);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openPage(wire: Wire, file: string): Promise<Opened> {
  const dialogs: string[] = [];
  const requests: string[] = [];
  const logged: string[] = [];
  const { targetId } = await wire.call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await wire.call('Target.attachToTarget', { targetId, flatten: true });
  const call = async (method: string, params: object = {}): Promise<Answer> =>
    await wire.call(method, params, sessionId);
  const url = `file://${file}`;
  let loaded = false;
  wire.listen(sessionId, (method, params) => {
    if (method === 'Page.javascriptDialogOpening') {
      dialogs.push(String(params['message']));
      // The page may have been closed meanwhile, and the dialog with it.
      void call('Page.handleJavaScriptDialog', { accept: true }).catch(() => undefined);
    }
    if (method === 'Network.requestWillBeSent') requests.push(String((params['request'] as Answer)['url']));
    if (method === 'Log.entryAdded') logged.push(String((params['entry'] as Answer)['text']));
    if (method === 'Page.loadEventFired') loaded = true;
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await call(`${domain}.enable`);
  await call('Page.navigate', { url });
  await until(`the page ${file}`, () => loaded, 60_000);
  // Handlers of errors and toggles run after the load; a pointer over the middle wakes those that wait for one.
  await call('Input.dispatchMouseEvent', { type: 'mouseMoved', x: 300, y: 200 });
  await new Promise((done) => setTimeout(done, 300));
  const expression = 'document.body.innerText';
  const shown = await call('Runtime.evaluate', { expression, returnByValue: true });
  await wire.call('Target.closeTarget', { targetId });
  const text = String((shown['result'] as Answer)['value']);
  return { dialogs, requests: requests.filter((one) => one !== url), logged, text };
}

type Answer = Readonly<Record<string, unknown>> & { readonly targetId?: string; readonly sessionId?: string };

interface Wire {
  call(method: string, params: object, sessionId?: string): Promise<Answer>;
  listen(sessionId: string | undefined, listener: (method: string, params: Answer) => void): void;
  close(): void;
}

/** The debugging protocol: calls with numbers and their answers, and events by session. */
async function connect(url: string): Promise<Wire> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no connection to ${url}`));
  });
  const waiting = new Map<
    number,
    { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }
  >();
  const listeners = new Map<string, (method: string, params: Answer) => void>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error, sessionId } = JSON.parse(String(data)) as Message;
    if (id === undefined) return listeners.get(sessionId ?? '')?.(method ?? '', params ?? {});
    if (error === undefined) waiting.get(id)?.resolve(result ?? {});
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  };
  return {
    call: (method, params, sessionId) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      }),
    listen: (sessionId, listener) => void listeners.set(sessionId ?? '', listener),
    close() {
      socket.send(JSON.stringify({ id: 0, method: 'Browser.close' }));
      socket.close();
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Answer;
  readonly result?: Answer;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await new Promise<void>((resolve) => child.once('close', () => resolve()));
  clearTimeout(timer);
}
