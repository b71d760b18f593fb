import { once } from 'node:events';
import { createServer } from 'node:http';
import { problem, refuse, thrownText } from '../errors.ts';
import { closedBy } from '../util/closing.ts';
import { portOf } from '../util/http-server.ts';
import { createListener } from './app.ts';
import type { Sandbox, SandboxSettings } from './options.ts';
import { reportsOf } from './reporter.ts';
import { createState } from './state.ts';

/** Clients keep connections for minutes. If the server closed them first, it would cause unscripted doubts. */
const TIMEOUTS = { keepAliveTimeout: 120_000, headersTimeout: 10_000, requestTimeout: 30_000 };

/**
 * Serves the messaging API on this machine, with scripted answers (docs/sandbox.md). Reachable from this machine only.
 *
 * @throws HandbillError (exit 2) if the key is not valid in a header, the file of devices is wrong, or the port or the
 * receipts file is not available.
 */
export async function startSandbox(options: SandboxSettings = {}): Promise<Sandbox> {
  const state = createState(options);
  const { inbox, receipts, reporter } = state;
  const server = createServer(TIMEOUTS, createListener(state));
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await Promise.all([closed, reporter?.close()]);
    receipts?.close();
  };
  try {
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await stop();
    const hint = 'Choose another port; 0 takes a free one.';
    throw refuse(problem('usage', `The sandbox cannot listen on 127.0.0.1: ${thrownText(error)}.`, { hint }));
  }
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get received() {
      return inbox.received;
    },
    get reports() {
      return reportsOf(reporter);
    },
    settled: () => reporter?.settled() ?? Promise.resolve(),
    ...closedBy(stop, options.signal),
  };
}
