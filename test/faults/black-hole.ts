import { fork } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import process from 'node:process';

/** A port whose connections are never made: neither refused nor accepted. */
export interface BlackHole extends Disposable {
  readonly port: number;
}

/**
 * A process that listens with a short queue and then stops, and enough connections to fill that queue: the kernel
 * drops the next connections, as a firewall does.
 */
export async function openBlackHole(): Promise<BlackHole> {
  const child = fork(import.meta.filename, ['listen'], { stdio: 'inherit', execArgv: [] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)));
    child.once('exit', () => reject(new Error('the black hole ended before it was open')));
  });
  const fillers: Socket[] = [];
  for (let refused = false; !refused; ) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    fillers.push(socket);
    refused = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(false));
      setTimeout(() => resolve(true), 200);
    });
    if (fillers.length > 50) throw new Error('the queue of a listening socket does not fill');
  }
  return {
    port,
    [Symbol.dispose]() {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}

if (process.argv[2] === 'listen') {
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    const address = server.address();
    process.send?.(typeof address === 'object' ? address?.port : 0, () => {
      // From here on the event loop does not turn, so that nothing is accepted. Two minutes, should no test end it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000);
      process.exit();
    });
  });
}
