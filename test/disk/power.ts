import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Deed } from './trace.ts';

/**
 * A disk that forgets: what was written is in the cache until a process syncs the file, and a name in a folder until
 * a process syncs the folder. POSIX promises no more than that; real file systems often keep more.
 */
export interface Disk {
  /** Takes over one deed. */
  apply(deed: Deed): void;
  /** What is found below the root after a power cut at this moment. */
  cut(luck: Luck): Remains;
}

/** Whether one thing that was not synced (512 bytes, a name, a new length) got to the disk all the same. */
export type Luck = (path: string) => boolean;

/** Path below the root to content; null for a folder. */
export type Remains = ReadonlyMap<string, Buffer | null>;

/** The worst luck: nothing survives but what was synced. */
export const NO_LUCK: Luck = () => false;

interface FileNode {
  readonly kind: 'file';
  durable: Buffer;
  pending: ({ readonly offset: number; readonly bytes: Buffer } | { readonly size: number })[];
}

interface FolderNode {
  readonly kind: 'folder';
  readonly durable: Map<string, Node>;
  readonly names: Map<string, Node>;
  pending: { readonly name: string; readonly node: Node | null }[];
}

type Node = FileNode | FolderNode;

/** Sectors are written whole or not at all; SQLite counts on no more (https://sqlite.org/atomiccommit.html). */
const SECTOR_BYTES = 512;

/** A disk with what lies below `root` now, all of it synced. */
export function createDisk(root: string): Disk {
  const top = fromFolder(root);
  const find = (path: string): Node | undefined => {
    if (path === root) return top;
    let node: Node | undefined = top;
    for (const name of path.slice(root.length + 1).split('/')) {
      node = node?.kind === 'folder' ? node.names.get(name) : undefined;
    }
    return node;
  };
  const folderOf = (path: string): FolderNode => {
    const folder = find(dirname(path));
    if (folder?.kind !== 'folder') throw new Error(`no such folder: ${dirname(path)}`);
    return folder;
  };
  const name = (path: string, node: Node | null): void => {
    const folder = folderOf(path);
    if (node === null) folder.names.delete(basename(path));
    else folder.names.set(basename(path), node);
    folder.pending.push({ name: basename(path), node });
  };
  const fileAt = (path: string): FileNode => {
    const file = find(path);
    if (file?.kind !== 'file') throw new Error(`no such file: ${path}`);
    return file;
  };

  return {
    apply(deed) {
      if (deed.kind === 'create' && find(deed.path) === undefined) name(deed.path, newFile(Buffer.alloc(0)));
      else if (deed.kind === 'folder') name(deed.path, newFolder(new Map()));
      else if (deed.kind === 'remove') name(deed.path, null);
      else if (deed.kind === 'rename') {
        const node = find(deed.path);
        if (node === undefined) throw new Error(`no such file: ${deed.path}`);
        name(deed.to, node);
        name(deed.path, null);
      } else if (deed.kind === 'write') fileAt(deed.path).pending.push({ offset: deed.offset, bytes: deed.bytes });
      else if (deed.kind === 'truncate') fileAt(deed.path).pending.push({ size: deed.size });
      else if (deed.kind === 'sync') sync(find(deed.path));
    },
    cut(luck) {
      const remains = new Map<string, Buffer | null>();
      gather(top, '', luck, remains);
      return remains;
    },
  };
}

/** Puts what remains in the place of what lies below `root/folder` now. */
export function restore(root: string, folder: string, remains: Remains): void {
  rmSync(join(root, folder), { recursive: true, force: true });
  for (const [path, content] of remains) {
    if (path !== folder && !path.startsWith(`${folder}/`)) continue;
    const place = join(root, path);
    if (content === null) mkdirSync(place, { mode: 0o700 });
    else writeFileSync(place, content, { mode: 0o600 });
    chmodSync(place, content === null ? 0o700 : 0o600);
  }
}

function sync(node: Node | undefined): void {
  if (node?.kind === 'file') {
    node.durable = settled(node, () => true, '');
    node.pending = [];
  } else if (node?.kind === 'folder') {
    for (const { name, node: entry } of node.pending) setName(node.durable, name, entry);
    node.pending = [];
  }
}

function gather(node: Node, path: string, luck: Luck, remains: Map<string, Buffer | null>): void {
  if (node.kind === 'file') {
    remains.set(path, settled(node, luck, path));
    return;
  }
  if (path !== '') remains.set(path, null);
  const names = new Map(node.durable);
  for (const { name, node: entry } of node.pending) {
    if (luck(join(path, name))) setName(names, name, entry);
  }
  for (const [name, entry] of names) gather(entry, join(path, name), luck, remains);
}

function setName(names: Map<string, Node>, name: string, node: Node | null): void {
  if (node === null) names.delete(name);
  else names.set(name, node);
}

/** The content with those of the pending changes that have luck, in their order; what is skipped over is zeros. */
function settled(file: FileNode, luck: Luck, path: string): Buffer {
  let content = file.durable;
  for (const change of file.pending) {
    if ('size' in change) {
      if (luck(path)) content = resized(content, change.size);
      continue;
    }
    for (let at = 0; at < change.bytes.length; ) {
      const offset = change.offset + at;
      const length = Math.min(SECTOR_BYTES - (offset % SECTOR_BYTES), change.bytes.length - at);
      if (luck(path)) {
        // A copy, once for each change at most: the durable bytes stay as they are.
        if (content === file.durable || content.length < offset + length) {
          content = resized(content, Math.max(content.length, offset + length));
        }
        change.bytes.copy(content, offset, at, at + length);
      }
      at += length;
    }
  }
  return content;
}

function resized(content: Buffer, size: number): Buffer {
  const changed = Buffer.alloc(size);
  content.copy(changed, 0, 0, size);
  return changed;
}

function fromFolder(folder: string): FolderNode {
  const names = new Map<string, Node>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) names.set(entry.name, fromFolder(path));
    else if (entry.isFile()) names.set(entry.name, newFile(readFileSync(path)));
  }
  return newFolder(names);
}

function newFile(durable: Buffer): FileNode {
  return { kind: 'file', durable, pending: [] };
}

function newFolder(names: Map<string, Node>): FolderNode {
  return { kind: 'folder', durable: new Map(names), names, pending: [] };
}
