import { findSuppressions } from '../campaign/read-suppressions.ts';
import { type SuppressionLine, suppressionsPage } from '../pages/serve-suppressions.ts';
import { listedForm } from '../suppression/form.ts';
import { readHasher } from '../suppression/hash.ts';
import { createTurns } from '../util/turns.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { readSearch, type Search } from './serve-search.ts';
import { type MakePage, type Site, textOf, whole } from './serve-site.ts';

const ENTRIES_ON_A_PAGE = 50;
const STEP_ENTRIES = 20_000;
const LONGEST_MS = 1_500;

/** `/suppressions`: by address; `?q=` a whole address in any spelling, or a part of one. */
export const makeSuppressions: MakePage = async (site, open, { view, query }) => {
  const search = readSearch(textOf(query, 'q'), site.phone);
  const after = query.get('after')?.slice(0, 400) ?? null;
  const { addresses, hashes } = open.ledger.suppressionCounts();
  const { found, stoppedAt } = await readEntries(open, search, after);
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const data = {
    q: search?.text ?? '',
    entries,
    addresses,
    hashes,
    isHashed: hashes === 0 || search === null ? null : await isHashed(site, open, search, view.nowMs),
    isFirst: after === null,
    next: found.length > ENTRIES_ON_A_PAGE ? (entries.at(-1)?.address ?? null) : null,
    stoppedAt,
    files: await filesOf(site),
    timeZone: site.reading.project.timeZone,
  };
  return whole(suppressionsPage(view, data));
};

/** By their place in the index of addresses: the last page costs what the first does. */
async function readEntries(open: OpenLedger, search: Search | null, cursor: string | null) {
  const turn = createTurns();
  const until = performance.now() + LONGEST_MS;
  const names = search === null ? null : JSON.stringify(search.names.map(listedForm));
  const found: SuppressionLine[] = [];
  for (let after = cursor ?? ''; ; ) {
    const end = open.query(END_OF_STEP).get(after, STEP_ENTRIES)?.[0] ?? null;
    const limit = ENTRIES_ON_A_PAGE + 1 - found.length;
    const part = search?.part == null ? null : listedForm(search.part);
    const rows = open.query(ENTRIES).all(after, end as string | null, names, part, limit);
    found.push(
      ...rows.map(
        ([address, reason, until, source, created]): SuppressionLine => ({
          address: String(address),
          reason: reason as string | null,
          untilMs: until as number | null,
          source: String(source),
          createdMs: Number(created),
        }),
      ),
    );
    if (end === null || found.length > ENTRIES_ON_A_PAGE) return { found, stoppedAt: null };
    after = String(end);
    if (performance.now() > until) return { found, stoppedAt: after };
    await turn();
  }
}

const END_OF_STEP = 'SELECT address FROM suppressions WHERE address > ? ORDER BY address LIMIT 1 OFFSET ?';

const ENTRIES = `SELECT address, reason, until_at, source, created_at FROM suppressions
  WHERE address > ?1 AND (?2 IS NULL OR address <= ?2)
    AND (?3 IS NULL OR address IN (SELECT value FROM json_each(?3)) OR instr(address, ?4) > 0)
  ORDER BY address LIMIT ?5`;

/** Null where the key of the hashes is not here: nobody can say then. */
async function isHashed(site: Site, { ledger }: OpenLedger, search: Search, nowMs: number): Promise<boolean | null> {
  const { project } = site.reading;
  const read = await readHasher(project.suppressionKey, site.context.env, project.root);
  if ('problem' in read || read.hasher.keyId !== ledger.hashKeyId()) return null;
  return search.names.some((name) => ledger.isHashSuppressed(read.hasher.hash(listedForm(name)), nowMs));
}

async function filesOf({ reading, context }: Site): Promise<readonly string[]> {
  const { root } = reading.project;
  const { files } = await findSuppressions(null, reading, { root, folder: root, cwd: context.cwd });
  return files.map(({ file }) => file);
}
