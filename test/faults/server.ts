import process from 'node:process';
import { type Listener, type ListenOptions, listen } from './listener.ts';

/**
 * The fault server: a process of its own that opens a port for each behaviour that it is asked to play. It is told what to
 * do by messages of the process that started it (see fault-server.ts), and ends with it.
 */
export type Order =
  | { readonly order: number; readonly do: 'listen'; readonly options: ListenOptions }
  | { readonly order: number; readonly do: 'calm' | 'counts' | 'close'; readonly port: number };

const listeners = new Map<number, Listener>();

async function carryOut(order: Order): Promise<unknown> {
  if (order.do === 'listen') {
    const listener = await listen(order.options);
    listeners.set(listener.port, listener);
    return listener.port;
  }
  const listener = listeners.get(order.port);
  if (order.do === 'calm') listener?.calm();
  else if (order.do === 'close') {
    listener?.close();
    listeners.delete(order.port);
  }
  return listener?.counts();
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (result) => process.send?.({ order: order.order, result }),
    (error: unknown) => process.send?.({ order: order.order, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
