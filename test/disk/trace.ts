import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** One thing that a process did to files or connections, in the order in which it did it. */
export type Deed =
  | { readonly kind: 'create'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  /** A request, whole, was given to the kernel: from here on the API may have it. */
  | { readonly kind: 'post'; readonly reference: string };

const CALLS =
  'openat,pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,fsync,ftruncate,fallocate,copy_file_range,' +
  'rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,close,lseek,execve';

/** What must come before a command line to have its system calls written to `file`. */
export function tracing(file: string): string[] {
  needStrace();
  return ['strace', '-f', '-yy', '-xx', '-s', '2200000', '-o', file, '-e', `trace=${CALLS}`];
}

/** The proofs that look at system calls are no proofs without it, so they fail instead of being skipped. */
export function needStrace(): void {
  if (spawnSync('strace', ['--version']).status === 0) return;
  throw new Error(
    'strace is needed to watch system calls (Linux: apt-get install strace); without it this proves nothing',
  );
}

/** Reads what strace wrote: everything below the folder `root`, and every request. */
export function readTrace(file: string, root: string): Deed[] {
  const deeds: Deed[] = [];
  const offsets = new Map<string, number>();
  for (const call of calls(readFileSync(file, 'latin1'))) {
    for (const deed of deedsOf(call, offsets)) {
      if (deed.kind === 'post' || deed.path === root || deed.path.startsWith(`${root}/`)) deeds.push(deed);
    }
  }
  return deeds;
}

interface Call {
  readonly name: string;
  /** As strace prints them, with the result behind. */
  readonly args: string;
  readonly result: number;
  readonly strings: readonly Buffer[];
  /** Number and path of the first descriptor. */
  readonly fd: string;
  readonly path: string;
}

/** A call that another thread cut in two is where it ended, a write to a connection where it began. */
function* calls(text: string): Generator<Call> {
  const begun = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      const start = rest.slice(0, -'<unfinished ...>'.length);
      if (isToApi(start)) yield parsed(`${start}) = 1`);
      else begun.set(pid, start);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (resumed === null) {
      if (/^\w+\(/.test(rest)) yield parsed(rest);
      continue;
    }
    const start = begun.get(pid);
    begun.delete(pid);
    if (start !== undefined) yield parsed(start + (resumed[1] ?? ''));
  }
}

function isToApi(start: string): boolean {
  return /^(write|writev|sendto|sendmsg)\(\d+<TCP/.test(start);
}

function parsed(line: string): Call {
  const at = line.indexOf('(');
  const name = line.slice(0, at);
  const args = line.slice(at + 1);
  const result = Number(/\) = (-?\d+)[^)]*$/.exec(args)?.[1] ?? /\) += (-?\d+)/.exec(args)?.[1] ?? Number.NaN);
  const [, fd = '', path = ''] = /^(\d+)<((?:[^>\\-]|\\x..|->|-)*)>/.exec(args) ?? [];
  const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => fromHex(hex));
  return { name, args, result, strings, fd, path: fromHex(path).toString() };
}

function fromHex(text: string): Buffer {
  return text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text, 'latin1');
}

function* deedsOf(call: Call, offsets: Map<string, number>): Generator<Deed> {
  const { name, args, result, strings, path } = call;
  if (!(result >= 0) || path.endsWith('(deleted)')) return;
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = strings;
  switch (name) {
    case 'openat': {
      const opened = first.toString();
      offsets.set(String(result), 0);
      if (args.includes('O_CREAT')) yield { kind: 'create', path: opened };
      if (args.includes('O_TRUNC')) yield { kind: 'truncate', path: opened, size: 0 };
      return;
    }
    case 'mkdir':
      return yield { kind: 'folder', path: first.toString() };
    case 'unlink':
    case 'rmdir':
      return yield { kind: 'remove', path: first.toString() };
    case 'rename':
      return yield { kind: 'rename', path: first.toString(), to: second.toString() };
    case 'ftruncate':
      return yield { kind: 'truncate', path, size: numberAt(/, (\d+)\s*\)\s+= 0$/, args) };
    case 'fsync':
    case 'fdatasync':
      return yield { kind: 'sync', path };
    case 'pwrite64': {
      const offset = numberAt(/, (\d+)\s*\)\s+= \d+$/, args);
      return yield { kind: 'write', path, offset, bytes: first.subarray(0, result) };
    }
    case 'write':
    case 'writev':
    case 'sendto':
    case 'sendmsg':
      return yield* written(call, offsets);
    case 'close':
    case 'execve':
      return;
    default:
      // A call that the model of the disk does not know: better no proof than a false one.
      if (path.includes('/.handbill') || first.includes('/.handbill'))
        throw new Error(`unknown to this test: ${name}(${args}`);
  }
}

function numberAt(pattern: RegExp, args: string): number {
  const found = pattern.exec(args)?.[1];
  if (found === undefined) throw new Error(`not understood: ${args.slice(-200)}`);
  return Number(found);
}

function* written({ name, strings, fd, path, result }: Call, offsets: Map<string, number>): Generator<Deed> {
  if (path.startsWith('TCP')) {
    const text = Buffer.concat(strings).toString();
    for (const [, reference = ''] of text.matchAll(/"handbill":"([^"]+)"/g)) yield { kind: 'post', reference };
    return;
  }
  if (!path.startsWith('/') || name === 'sendto' || name === 'sendmsg') return;
  const offset = offsets.get(fd) ?? 0;
  offsets.set(fd, offset + result);
  yield { kind: 'write', path, offset, bytes: Buffer.concat(strings).subarray(0, result) };
}
