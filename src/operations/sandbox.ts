import type { Sandbox, SandboxOptions } from '../sandbox/options.ts';
import { checkNumbers, PORT, present } from './options.ts';

/**
 * `handbill sandbox`: serves the messaging API on this machine, with scripted answers. Reachable from this machine only.
 *
 * @throws HandbillError exit 2 when the host is not a loopback address, the key is not allowed in a header, the file of
 *   devices is wrong, or the port or the receipts file cannot be had
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkNumbers(options, {
    port: { range: PORT },
    latencyMs: { range: [0, 600_000] },
    keep: { range: [0, 1e9, 'whole'] },
  });
  const { startSandbox: start } = await import('../sandbox/server.ts');
  return await start(present(options));
}
