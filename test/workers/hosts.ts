import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import type { KillsApi } from '../kills/api.ts';
import { type Passing, passOn } from './pass-on.ts';
import type { Way } from './proxy.ts';

/*
 * Hosts of their own on this machine: network namespaces with an address each, on one bridge. A process that is cut off here is
 * cut off as a machine is: nothing that it sends arrives, and it is not told. It takes the rights of an administrator.
 */

/** The hosts of a test. */
export interface Network extends AsyncDisposable {
  /** The address of this machine, as all hosts see it. */
  readonly host: string;
  /** Addresses of the hosts, as a server lets them in. */
  readonly range: string;
  /** The way of a free host; what runs there sees the API on loopback. */
  way(database: string): Promise<Way>;
}

interface Host {
  readonly name: string;
  /** The end of its cable that is on this machine. */
  readonly cable: string;
  readonly relay: ChildProcess;
}

let networks = 0;

/**
 * @param apiPort - of the API, on loopback of this machine
 * @returns null where this machine does not allow it
 */
export async function openNetwork(apiPort: number): Promise<Network | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  networks += 1;
  const tag = `${process.pid.toString(36)}${networks}`;
  const bridge = `hb${tag}`;
  const prefix = `10.${128 + (process.pid % 100)}.${(Math.floor(process.pid / 100) * 8 + networks) % 250}`;
  const gateway = `${prefix}.1`;
  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    ip('addr', 'add', `${gateway}/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
  } catch {
    remove('link', 'del', bridge);
    return null;
  }
  const hosts: Host[] = [];
  const free: Host[] = [];
  let opened = 1;
  let api: Passing;
  const close = async (): Promise<void> => {
    await api?.close();
    for (const { name, relay } of hosts) {
      relay.kill('SIGKILL');
      remove('netns', 'del', name);
    }
    remove('link', 'del', bridge);
  };
  try {
    api = await passOn({ host: gateway, port: apiPort }, { host: '127.0.0.1', port: apiPort });
    free.push(await openHost({ tag, number: 0, bridge, prefix, apiPort }));
    hosts.push(...free);
  } catch {
    await close();
    return null;
  }
  return {
    host: gateway,
    range: `${prefix}.0/24`,
    async way(database) {
      let host = free.pop();
      if (host === undefined) {
        // Rounds beside each other ask at once.
        opened += 1;
        host = await openHost({ tag, number: opened - 1, bridge, prefix, apiPort });
        hosts.push(host);
      }
      const { name, cable } = host;
      const taken = host;
      const address = new URL(database);
      address.hostname = gateway;
      // A network of this machine alone, without TLS.
      address.searchParams.set('sslmode', 'disable');
      const mend = (): void => ip('link', 'set', cable, 'up');
      return {
        address: address.href,
        via: ['ip', 'netns', 'exec', name],
        cut: () => ip('link', 'set', cable, 'down'),
        mend,
        async [Symbol.asyncDispose]() {
          mend();
          free.push(taken);
        },
      };
    },
    [Symbol.asyncDispose]: close,
  };
}

interface Place {
  readonly tag: string;
  readonly number: number;
  readonly bridge: string;
  readonly prefix: string;
  readonly apiPort: number;
}

async function openHost({ tag, number, bridge, prefix, apiPort }: Place): Promise<Host> {
  const name = `hb${tag}-${number}`;
  const cable = `hv${tag}-${number}`;
  ip('netns', 'add', name);
  try {
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', cable, 'master', bridge, 'up');
    ip('-n', name, 'addr', 'add', `${prefix}.${number + 2}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
    const script = join(import.meta.dirname, 'relay.ts');
    const relay = spawn('ip', ['netns', 'exec', name, process.execPath, script, String(apiPort), `${prefix}.1`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve, reject) => {
      relay.stdout.once('data', () => resolve());
      relay.once('exit', (status) => reject(new Error(`the relay of a host ended with ${status}`)));
      relay.once('error', reject);
    });
    return { name, cable, relay };
  } catch (error) {
    remove('netns', 'del', name);
    throw error;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function remove(...args: readonly string[]): void {
  try {
    ip(...args);
  } catch {
    // It was not there yet.
  }
}

/** Where the API listens, on loopback of this machine. */
export function portOf(api: KillsApi): number {
  return Number(new URL(api.origin).port);
}
