import type { RunRecord } from '../ledger/records.ts';
import type { NoPeople } from '../operations/run-people.ts';
import { type Html, html } from '../util/escape.ts';
import { IN_MANY_CELLS } from './search.ts';
import type { Asked, Site } from './site.ts';

/** A page that searches waits longer than one that is as useful with numbers: names follow there. */
const PATIENCE_MS = { search: 10_000, page: 100 };

export type Names = Awaited<ReturnType<typeof namesOf>>;

export async function namesOf(
  { people }: Site,
  { patienceMs }: Pick<Asked, 'patienceMs'>,
  run: RunRecord,
  waits = false,
) {
  const found = await people(run, waits ? PATIENCE_MS.search : Math.min(patienceMs, PATIENCE_MS.page));
  const known = 'why' in found ? null : found;
  const of = (row: number, key: string | null) => (key === null ? null : (known?.of(row) ?? null));
  return {
    /** Why there are no names; null: there are. */
    why: 'why' in found ? found.why : null,
    /** Null: the row has no name, or the ledger has no person in it any more. */
    labelOf: (row: number, key: string | null) => of(row, key)?.label ?? null,
    cellsOf: (row: number, key: string | null) =>
      (of(row, key)?.cells ?? []).map((cell, i) => [known?.columns[i] ?? '', cell] as const),
    /** Rows of the list with these words; none for a short number, which many rows would hold by chance. */
    find: async (text: string) => new Set(known === null || IN_MANY_CELLS.test(text) ? [] : await known.find(text)),
  };
}

/** A link to a person: by the name, with the number small below; else by the number. */
export function personLink(href: string, label: string | null, who: string): Html {
  if (label === null) return html`<a href="${href}">${who}</a>`;
  return html`<span><a class="name" href="${href}">${label}</a><br><span class="soft">${who}</span></span>`;
}

const WHY: Readonly<Record<NoPeople['why'], string | null>> = {
  changed: 'Names are not shown: the list is not as it was when this was sent.',
  long: 'Names are shown of lists up to 64 MiB only.',
  purged: null,
  soon: 'Names follow when the list has been read.',
};

export function whyNoNames({ why }: Names): Html | null {
  const said = why === null ? null : WHY[why];
  return said === null ? null : html`<p class="soft">${said}</p>`;
}
