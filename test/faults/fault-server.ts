import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Counts, ListenOptions } from './listener.ts';
import type { Order } from './server.ts';

/** A fault server in a process of its own. */
export interface FaultServer extends AsyncDisposable {
  listen(options: ListenOptions): Promise<PlayedPort>;
}

/** One port of it, where one behaviour is played. */
export interface PlayedPort extends AsyncDisposable {
  readonly port: number;
  /** From now on every answer is a proper one. */
  calm(): Promise<void>;
  counts(): Promise<Counts>;
}

interface Reply {
  readonly order: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** An order without its number. */
type Wish = Order extends infer O ? (O extends Order ? Omit<O, 'order'> : never) : never;

export async function startFaultServer(): Promise<FaultServer> {
  const child = fork(join(import.meta.dirname, 'server.ts'), { stdio: 'inherit', execArgv: [] });
  const waiting = new Map<number, (reply: Reply) => void>();
  let orders = 0;
  child.on('message', (reply: Reply) => {
    waiting.get(reply.order)?.(reply);
    waiting.delete(reply.order);
  });
  const gone = new Promise<void>((resolve) => {
    child.on('exit', (code, signal) => {
      for (const reply of waiting.values()) reply({ order: 0, error: `the fault server ended: ${code ?? signal}` });
      waiting.clear();
      resolve();
    });
  });
  const ask = async (wish: Wish): Promise<unknown> => {
    const order = ++orders;
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(order, resolve);
      child.send({ ...wish, order });
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.result;
  };
  return {
    async listen(options) {
      const port = (await ask({ do: 'listen', options })) as number;
      return {
        port,
        calm: async () => void (await ask({ do: 'calm', port })),
        counts: async () => (await ask({ do: 'counts', port })) as Counts,
        [Symbol.asyncDispose]: async () => void (await ask({ do: 'close', port })),
      };
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await gone;
    },
  };
}
