import { createServer } from 'node:http';
import { closedBy } from '../util/closing.ts';
import { listenOn } from '../util/http-server.ts';
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
  const port = await listenOn(server, options.port ?? 0, '127.0.0.1', 'The sandbox cannot listen').catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
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
