import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A door before a server that counts who comes in, requests or not. */
export interface Door extends AsyncDisposable {
  readonly url: string;
  connections(): number;
}

export async function openDoor(url: string): Promise<Door> {
  const port = Number(new URL(url).port);
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((incoming) => {
    connections += 1;
    const outgoing = connect(port, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
