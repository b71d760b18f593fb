import type { Socket } from 'node:net';

/** Hears the first `length` bytes of `chunk`, which are others as soon as it returns. */
export type Listener = (chunk: Buffer, length: number) => void;

const listeners = new WeakMap<Socket, Listener>();
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * For `net.connect` and `tls.connect`: everything that is read goes through one buffer, for what was read of one
 * connection is dealt with before the next is looked at. Left to itself Node takes 64 KiB from the system for each read.
 */
export const INBOX = {
  buffer,
  callback(this: Socket, length: number): boolean {
    listeners.get(this)?.(buffer, length);
    return true;
  },
};

/** Says who hears what this socket reads into `INBOX`. */
export function hear(socket: Socket, listener: Listener): void {
  listeners.set(socket, listener);
}

/** The same for an open connection, whether it reads into `INBOX` or not: one through a proxy does not. */
export function listen(socket: Socket, listener: Listener): void {
  hear(socket, listener);
  socket.on('data', (chunk: Buffer) => listener(chunk, chunk.length));
}
