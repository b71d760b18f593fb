import type { Readable } from 'node:stream';
import { problem, refuse } from '../errors.ts';
import { type GitPlace, streamGit } from './git.ts';

/** Takes the bytes of one object, piece by piece. */
export type Sink = (piece: Buffer) => Promise<void>;

/**
 * Reads objects as git holds them: no filter, no textconv, no conversion of line ends. `open` is asked for each in
 * order, and `close` called when it is complete.
 *
 * @throws HandbillError exit 2, `unknown-revision`, where an object is missing (a partial clone)
 */
export async function readBlobs(
  place: GitPlace,
  oids: readonly string[],
  open: (index: number) => Promise<{ readonly write: Sink; readonly close: () => Promise<void> }>,
): Promise<void> {
  if (oids.length === 0) return;
  const { stdout, done } = streamGit(place, ['cat-file', '--batch'], `${oids.join('\n')}\n`);
  const reader = createReader(stdout);
  // An error of the process is thrown below; until then nobody else listens.
  done.catch(() => undefined);
  try {
    for (const [index, oid] of oids.entries()) {
      const head = await reader.line();
      const size = new RegExp(`^${oid} blob (\\d+)$`).exec(head ?? '')?.[1];
      if (size === undefined) throw missing(oid);
      const { write, close } = await open(index);
      try {
        await reader.bytes(Number(size), write, oid);
      } finally {
        await close();
      }
      await reader.bytes(1, async () => undefined, oid);
    }
    await done;
  } finally {
    stdout.destroy();
  }
}

interface Reader {
  line(): Promise<string | null>;
  bytes(count: number, write: Sink, oid: string): Promise<void>;
}

function createReader(stream: Readable): Reader {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await pieces.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  return {
    async line() {
      for (let end = rest.indexOf(0x0a); ; end = rest.indexOf(0x0a)) {
        if (end !== -1) {
          const line = rest.toString('latin1', 0, end);
          rest = rest.subarray(end + 1);
          return line;
        }
        if (rest.length > 1000 || !(await more())) return null;
      }
    },
    async bytes(count, write, oid) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw missing(oid);
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        await write(piece);
      }
    },
  };
}

function missing(oid: string): Error {
  const hint = 'This is a partial or damaged clone: fetch what is missing first, or use a full clone.';
  return refuse(problem('unknown-revision', `git could not read the object ${oid.slice(0, 12)}.`, { hint }));
}
