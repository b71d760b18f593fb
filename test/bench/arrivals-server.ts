/**
 * An API that accepts whatever is posted and notes when it came. Arguments: milliseconds between a request and its
 * answer. `GET /arrivals` tells the instants in milliseconds, in the order in which they came.
 *
 * It is plain `node:http`, which looks into nothing: a server that did more would be late itself when it says how evenly
 * requests come.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

const delayMs = Number(process.argv[2] ?? '0');
const arrivals: number[] = [];

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(arrivals));
    return;
  }
  const id = `msg-${arrivals.push(performance.now())}`;
  request.resume();
  if (delayMs === 0) request.on('end', () => answer(response, id));
  else setTimeout(() => answer(response, id), delayMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

function answer(response: ServerResponse, id: string): void {
  const body = JSON.stringify({ id });
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
