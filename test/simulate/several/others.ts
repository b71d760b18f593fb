import { join } from 'node:path';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import type { Start } from '../process.ts';
import { IDENTITY } from '../scene.ts';
import type { World } from '../world.ts';
import type { Cast } from './campaigns.ts';
import type { OptOut } from './draw.ts';
import type { RuleWatch, Watched } from './watch.ts';

export interface OthersOptions {
  readonly world: World;
  readonly cast: Cast;
  readonly watch: RuleWatch;
  /** Where the ledger is now. */
  readonly folder: () => string;
}

/** What other processes do to the ledger while campaigns are sent, and in between. */
export function createOthers({ world, cast, watch, folder }: OthersOptions) {
  /** By a process of its own. */
  const inLedger = (work: (ledger: Ledger) => void): void => {
    const ledger = openLedger(join(folder(), 'ledger.db'), { mode: 'write', nowMs: world.wallMs });
    try {
      work(ledger);
    } finally {
      ledger.close();
    }
  };

  const suppress = ({ person, how, forMs }: OptOut, alive: readonly Start[]): void => {
    const address = cast.people[person]?.address ?? '?';
    const own = alive.find(({ ending, killed }) => ending === null && !killed);
    const untilMs = forMs === null ? null : world.wallMs + forMs;
    if (how === 'own' && own !== undefined) own.suppress(address);
    const facts = { reason: null, untilMs, source: 'user' };
    if (how === 'hash') {
      const { keyId } = cast.hasher;
      inLedger((ledger) =>
        ledger.suppressAll([], [{ ...facts, hash: cast.hasher.hash(address), keyId }], world.wallMs),
      );
    } else inLedger((ledger) => ledger.suppress(address, { ...facts, nowMs: world.wallMs }));
    world.cover(`opted out:${how}`);
    world.note(
      () => `${address} is suppressed (${how}) ${untilMs === null ? '' : `until ${new Date(untilMs).toISOString()}`}`,
    );
    watch.suppressed(address, untilMs);
  };

  const purge = (company: Watched): void => {
    inLedger((ledger) => {
      const run = ledger.findRun({ ...IDENTITY, campaign: company.name });
      if (run === null) return;
      ledger.purge.mark(run, world.wallMs);
      for (const _ of ledger.purge.clear(run));
      company.isPurged = true;
      world.cover('purged');
      world.note(() => `${company.name} is purged`);
    });
  };

  return { inLedger, suppress, purge };
}
