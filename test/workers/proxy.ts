import { passOn } from './pass-on.ts';

/** The way of one process to the database: it can be cut. */
export interface Way extends AsyncDisposable {
  /** The address of the database by this way. */
  readonly address: string;
  /** What a process is started through, to be where the way begins. */
  readonly via: readonly string[];
  /** Nothing comes through any more, and no side is told; new connections are refused. */
  cut(): void;
  /** New connections come through; of the old ones, what the way makes of them. */
  mend(): void;
}

/** By a proxy: what was cut ends when the way is mended. */
export async function wayTo(address: string): Promise<Way> {
  const target = new URL(address);
  const passing = await passOn({ host: '127.0.0.1', port: 0 }, { host: target.hostname, port: Number(target.port) });
  const here = new URL(address);
  here.port = String(passing.port);
  return {
    address: here.href,
    via: [],
    cut() {
      passing.isOpen = false;
      for (const [near, far] of passing.pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    mend() {
      passing.isOpen = true;
      passing.end();
    },
    [Symbol.asyncDispose]: passing.close,
  };
}
