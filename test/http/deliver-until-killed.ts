/**
 * `URL`: delivers until it is killed, and says so on stdout without a buffer: `claim N` before a request is posted, `done N` when
 * its answer is there. `URL at-once`: kills itself within the turn in which it posts its second request, on a connection
 * that carried the first. Started by killed.test.ts.
 */
import { writeSync } from 'node:fs';
import { connect } from '../../src/http/connect.ts';

const CONNECTIONS = 16;
const api = connect({ url: process.argv[2] ?? '', headers: {}, connections: CONNECTIONS, timeoutMs: 10_000 });
let next = 0;

async function deliver(): Promise<void> {
  for (;;) {
    if ((await api.ready()) !== null) return;
    // The claims of one turn of the event loop are written together, as the ledger does.
    await new Promise((resolve) => setImmediate(resolve));
    const number = next++;
    writeSync(1, `claim ${number}\n`);
    await api.post(JSON.stringify({ number }), String(number));
    writeSync(1, `done ${number}\n`);
  }
}

if (process.argv[3] === 'at-once') {
  await api.post('{"number":0}', '0');
  await api.ready();
  void api.post('{"number":1}', '1');
  process.kill(process.pid, 'SIGKILL');
}
await Promise.all(Array.from({ length: CONNECTIONS }, deliver));
