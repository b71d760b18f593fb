import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
const SERVER = join(ROOT, 'node_modules', 'yaml-language-server', 'bin', 'yaml-language-server');

/** What the editor underlines. Lines count from 1, as people see them. */
export interface Underlined {
  readonly line: number;
  readonly message: string;
}

/** One entry of the list that completion opens. */
export interface Proposal {
  readonly label: string;
  readonly documentation: string;
  /** What is inserted, with `${1:...}` where the cursor goes. */
  readonly insert: string;
}

/** yaml-language-server as a process of its own, spoken to as VS Code, Neovim, Helix and others do. */
export interface LanguageServer {
  /** Opens a file and waits for what is wrong with it. */
  diagnose(path: string, text: string): Promise<readonly Underlined[]>;
  /** Completion at the place of `▮`. */
  complete(text: string, path?: string): Promise<readonly Proposal[]>;
  /** Hover text at the place of `▮`; empty where there is none. */
  hover(text: string, path?: string): Promise<string>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly { readonly message: string; readonly range: { readonly start: { line: number } } }[];
}

interface Item {
  readonly label: string;
  readonly insertText?: string;
  readonly documentation?: string | { readonly value: string };
}

/** @param settings - the editor's settings below `yaml`, such as `schemas` */
export async function startLanguageServer(settings: object = {}): Promise<LanguageServer> {
  const child = spawn(NODE, [SERVER, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const answers = new Map<number, (result: unknown) => void>();
  const published = new Map<string, (found: Published['diagnostics']) => void>();
  const yaml = { validate: true, hover: true, completion: true, schemaStore: { enable: false }, ...settings };
  let last = 0;

  const write = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const ask = (method: string, params: object): Promise<unknown> => {
    last += 1;
    const id = last;
    write({ id, method, params });
    return new Promise((resolve) => answers.set(id, resolve));
  };
  child.stdout.on(
    'data',
    messagesOf(({ id, method, params, result }) => {
      if (id !== undefined && method === undefined) answers.get(id)?.(result);
      else if (method === 'workspace/configuration') {
        const { items } = params as { items: readonly { section: string }[] };
        write({ id, result: items.map(({ section }) => (section === 'yaml' ? yaml : {})) });
      } else if (id !== undefined) write({ id, result: null });
      else if (method === 'textDocument/publishDiagnostics') {
        const { uri, diagnostics } = params as Published;
        published.get(uri)?.(diagnostics);
      }
    }),
  );

  await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(ROOT).href, capabilities: CAPABILITIES });
  write({ method: 'initialized', params: {} });

  let documents = 0;
  const open = (path: string | undefined, text: string): string => {
    documents += 1;
    const uri = pathToFileURL(path ?? join(ROOT, 'campaigns', `new-${documents}`, 'campaign.yaml')).href;
    write({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
    return uri;
  };
  const askAt = async (method: string, text: string, path: string | undefined): Promise<unknown> => {
    const before = text.slice(0, text.indexOf('▮')).split('\n');
    const uri = open(path, text.replace('▮', ''));
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    const answer = await ask(method, { textDocument: { uri }, position });
    write({ method: 'textDocument/didClose', params: { textDocument: { uri } } });
    return answer;
  };

  return {
    diagnose: async (path, text) => {
      const { href } = pathToFileURL(path);
      const { promise, resolve } = Promise.withResolvers<Published['diagnostics']>();
      published.set(href, resolve);
      open(path, text);
      const found = await promise;
      published.delete(href);
      write({ method: 'textDocument/didClose', params: { textDocument: { uri: href } } });
      return found
        .map(({ message, range }) => ({ line: range.start.line + 1, message }))
        .toSorted((a, b) => a.line - b.line);
    },
    complete: async (text, path) => {
      const answer = (await askAt('textDocument/completion', text, path)) as { items: readonly Item[] } | null;
      return (answer?.items ?? []).map(({ label, insertText = label, documentation = '' }) => ({
        label,
        insert: insertText,
        documentation: typeof documentation === 'string' ? documentation : documentation.value,
      }));
    },
    hover: async (text, path) => {
      const answer = (await askAt('textDocument/hover', text, path)) as { contents: { value: string } } | null;
      // Text that is no markup comes with its punctuation escaped.
      return (answer?.contents.value ?? '').replaceAll(/\\([^\w\s])/g, '$1');
    },
    close: async () => {
      await ask('shutdown', {});
      write({ method: 'exit' });
      await ended;
    },
  };
}

const CAPABILITIES = {
  workspace: { configuration: true },
  textDocument: {
    completion: { completionItem: { snippetSupport: true, documentationFormat: ['markdown', 'plaintext'] } },
    hover: { contentFormat: ['markdown'] },
    publishDiagnostics: {},
  },
};

/** Cuts a stream at the headers that say how long each message is. */
function messagesOf(take: (message: Message) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const end = held.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(held.subarray(0, end).toString())?.[1]);
      const begin = end + 4;
      if (end < 0 || held.length < begin + length) return;
      const text = held.subarray(begin, begin + length).toString();
      held = held.subarray(begin + length);
      take(JSON.parse(text) as Message);
    }
  };
}
