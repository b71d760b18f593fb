import process from 'node:process';
import { problem, refuse } from '../../errors.ts';

/**
 * All of standard input.
 *
 * @throws HandbillError exit 2: there is more than `maxBytes`
 */
export async function readInput(maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of process.stdin) {
    const bytes = piece as Uint8Array;
    length += bytes.length;
    if (length > maxBytes) {
      throw refuse(problem('file-too-large', `Standard input holds more than ${maxBytes / 1024 / 1024} MiB.`));
    }
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}
