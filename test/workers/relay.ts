/**
 * `PORT HOST`: passes on what is said to this port of the machine to the same port of HOST, until its stdin ends. In a
 * network of its own the API is on loopback by it, as handbill wants it of an address without TLS. Started by hosts.ts.
 */
import process from 'node:process';
import { passOn } from './pass-on.ts';

const [port = '', host = ''] = process.argv.slice(2);
await passOn({ host: '127.0.0.1', port: Number(port) }, { host, port: Number(port) });
process.stdout.write('ready\n');
process.stdin.resume().on('end', () => process.exit(0));
