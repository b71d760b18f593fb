/**
 * `npm run hunt:workers -- [--rounds 300] [--seed N] [--fault kill] [--hosts]`: runs that four workers share, each with a
 * fault at a random instant; with `--hosts` each process is on a host of its own. Progress on stderr, a table on stdout,
 * exit 1 on a violation. One alone: `--seed N --rounds 1`.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { startKillsApi } from '../kills/api.ts';
import { freshDatabaseOn } from './databases.ts';
import { openNetwork, portOf } from './hosts.ts';
import { type Fault, planRound, playRound, type RoundResult } from './round.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    fault: { type: 'string' },
    hosts: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const folder = mkdtempSync(join(tmpdir(), 'handbill-workers-'));
await using api = await startKillsApi();
await using network = values.hosts ? await openNetwork(portOf(api)) : null;
if (values.hosts && network === null) throw new Error('This machine allows no hosts of their own (Linux, as root).');
const server = await startPostgres(folder, {}, network);
const results: RoundResult[] = [];
try {
  for (let at = 0; at < Number(values.rounds); at++) {
    const given = { hosts: values.hosts, ...(values.fault === undefined ? {} : { fault: values.fault as Fault }) };
    const ground = { api, server, network, database: await freshDatabaseOn(server.address) };
    const result = await playRound(planRound(seed + at, given), ground);
    results.push(result);
    const { plan, doubts, tookMs, violations } = result;
    const who = plan.victim === 0 ? 'send' : `worker ${plan.victim}`;
    const text = `seed ${plan.seed}: ${plan.fault} of ${who}, ${doubts} in doubt, ${(tookMs / 1000).toFixed(1)} s`;
    process.stderr.write(`${at + 1} of ${values.rounds}  ${text}${violations.length === 0 ? '' : '  VIOLATION'}\n`);
    for (const violation of violations.slice(0, 5)) process.stderr.write(`  ${violation}\n`);
  }
} finally {
  await removePostgres(server, folder);
}
const faults = [...new Set(results.map(({ plan }) => plan.fault))].sort();
for (const fault of faults) {
  const all = results.filter(({ plan }) => plan.fault === fault);
  const doubts = all.reduce((sum, one) => sum + one.doubts, 0);
  const longest = Math.max(...all.map(({ tookMs }) => tookMs)) / 1000;
  const bad = all.filter(({ violations }) => violations.length > 0).length;
  process.stdout.write(
    `${fault}: ${all.length} rounds, ${doubts} in doubt, longest ${longest.toFixed(1)} s, ${bad} bad\n`,
  );
}
process.exitCode = results.some(({ violations }) => violations.length > 0) ? 1 : 0;
