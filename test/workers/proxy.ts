import { createServer, connect as dial, type Socket } from 'node:net';

/** The way of one process to the database: it can be cut. */
export interface Way extends AsyncDisposable {
  /** The address of the database by this way. */
  readonly address: string;
  /** Nothing comes through any more, and nobody is told; new connections are refused. */
  cut(): void;
  /** What was cut ends now, and new connections come through. */
  mend(): void;
}

export async function wayTo(address: string): Promise<Way> {
  const target = new URL(address);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = dial(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const [one, other] of [pair, [far, near] as const]) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  if (typeof at !== 'object' || at === null) throw new Error('no port');
  const here = new URL(address);
  here.port = String(at.port);
  const end = (): void => {
    for (const [near, far] of [...pairs]) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    address: here.href,
    cut() {
      isCut = true;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    mend() {
      isCut = false;
      end();
    },
    async [Symbol.asyncDispose]() {
      end();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
