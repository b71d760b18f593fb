import { createServer, connect as dial, type Socket } from 'node:net';

export interface End {
  readonly host: string;
  readonly port: number;
}

/** What is between two ends. */
export interface Passing {
  /** The one that was listened on. */
  readonly port: number;
  /** Asked at each new connection: where false, it is refused. */
  isOpen: boolean;
  readonly pairs: ReadonlySet<readonly [Socket, Socket]>;
  /** Ends all connections. */
  end(): void;
  close(): Promise<void>;
}

/** Listens at one end, and passes everything on to the other. */
export async function passOn(from: End, to: End): Promise<Passing> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    if (!passing.isOpen) {
      near.destroy();
      return;
    }
    const far = dial(to.port, to.host);
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
  await new Promise<void>((resolve) => server.listen(from.port, from.host, resolve));
  const at = server.address();
  if (typeof at !== 'object' || at === null) throw new Error('no port');
  const passing: Passing = {
    port: at.port,
    isOpen: true,
    pairs,
    end() {
      for (const [near, far] of [...pairs]) {
        near.destroy();
        far.destroy();
      }
    },
    async close() {
      passing.end();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return passing;
}
