import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import type { CliResult } from '../helpers/cli.ts';
import { readReceipts } from '../oracle/receipts.ts';
import type { Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';
import { sceneOf, startAgain } from './failed-start.ts';
import { inPairs } from './in-pairs.ts';

/*
 * A disk that is really full: the ledger lies on a memory file system of a few megabytes, in a mount namespace of its
 * own. The smaller it is, the earlier the start meets its end: while the ledger is made, the reserve, the list, or in
 * the middle of sending. Afterwards the files are on a disk with room, where the run is started again.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const ROWS = 300;
/** From a disk on which not even an empty ledger has room to one on which all of the run has. */
const SIZES_KIB = Array.from({ length: 18 }, (_, at) => (at === 0 ? 40 : at * 200));

describe.runIf(FULL)('the disk is full (H1)', () => {
  it('wherever that happens, nothing is posted without a claim, and what was in flight is recorded', async () => {
    needMounts();
    const found: string[] = [];
    const ends = new Set<string>();
    await inPairs(SIZES_KIB, async (sizeKib) => {
      await using api = await startApi();
      using scene = sceneOf(api, ROWS);
      const result = await sendOnSmallDisk(scene, sizeKib);
      const posted = readReceipts(api.receipts).length;
      ends.add(`${result.status} ${posted === 0 ? 'nobody' : posted < ROWS ? 'some' : 'all'}`);
      const wrong = judge(result, posted);
      // Everything in flight had an outcome, and there was room for it: the reserve was given back.
      const usedReserve = posted > 0 && result.status === 7 && !existsSync(`${scene.ledger}.reserve`);
      wrong.push(...(await startAgain(scene, api, { mostCrashes: usedReserve ? 0 : 4 })));
      found.push(...wrong.map((what) => `${sizeKib} KiB: ${what}`));
    });
    expect(found).toEqual([]);
    // Whether one of the sizes has room for all claims and not for the last outcomes is up to the order of the answers.
    ends.delete('7 all');
    expect([...ends].toSorted()).toEqual(['0 all', '7 nobody', '7 some']);
  }, 300_000);
});

/** Sends with the ledger on such a disk, and puts what is left of it where a project has its ledger. */
async function sendOnSmallDisk(scene: Scene, sizeKib: number): Promise<CliResult> {
  const [disk, home] = [scene.path('disk'), scene.path('.handbill')];
  mkdirSync(disk);
  mkdirSync(home, { mode: 0o700 });
  const script = `mount -t tmpfs -o size=${sizeKib}k,mode=0700 tmpfs "$0" || exit 99
    "$@"; status=$?; cp -a "$0/." '${home}'; exit $status`;
  return await scene.send(['--ledger', `${disk}/ledger.db`, '--concurrency', '4'], {
    via: ['unshare', '-rm', 'sh', '-c', script, disk],
  });
}

function judge({ status, stderr }: CliResult, posted: number): string[] {
  if (status === 0) return posted === ROWS ? [] : [`exit status 0 after ${posted} requests`];
  if (status !== 7) return [`exit status ${status}: ${stderr}`];
  const said = /full|no space left/i.test(stderr) ? [] : [`not said: ${stderr}`];
  return /\n\s+at |a bug/.test(stderr) ? [...said, `a stack trace, or a bug: ${stderr}`] : said;
}

/** A proof that is not made must not look like one that succeeded. */
function needMounts(): void {
  const tried = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return;
  throw new Error(
    `a small disk needs Linux and the right to mount (unshare -rm): ${tried.stderr || tried.error?.message}. ` +
      'In a container, allow user namespaces or give it CAP_SYS_ADMIN; without them this proves nothing.',
  );
}
