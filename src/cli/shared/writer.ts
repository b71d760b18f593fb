import { problem, refuse } from '../../errors.ts';

/**
 * Resolves when the stream takes more. Once the reader has gone (`| head`), drops all output without an error, because
 * a run must go on (failures.md, I4). Throws exit 2, `output-exists`, when the stream fails otherwise, such as on a
 * full disk.
 */
export function createWriter(stream: NodeJS.WritableStream): (text: string) => Promise<void> | void {
  let gone = false;
  let failure: Error | null = null;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const resume of waiting) resume();
    waiting = [];
  };
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = true;
    if (!GONE.has(error.code ?? '')) failure = error;
    wake();
  });
  stream.on('drain', wake);
  stream.on('close', wake);
  const check = () => {
    if (failure !== null)
      throw refuse(problem('output-exists', `The output could not be written: ${failure.message}.`));
  };
  return (text) => {
    check();
    if (gone || text === '' || stream.write(text)) return;
    return new Promise<void>((resolve) => waiting.push(resolve)).then(check);
  };
}

/** The reader is gone; EIO is the error of a closed terminal. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);
