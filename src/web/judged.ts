import type { RunRecord } from '../ledger/records.ts';
import type { End } from '../report/ends.ts';
import type { Formats } from '../report/locale.ts';
import type { CampaignShape } from '../report/tally.ts';
import { paceOf } from '../report/verdict.ts';
import { summarise } from '../send/summary.ts';
import { type Html, html } from '../util/escape.ts';
import type { RunFigures } from './counts.ts';
import { address } from './kit.ts';
import type { OpenLedger } from './ledger.ts';
import type { Site } from './site.ts';

export type Judged = ReturnType<typeof judge>;

export function judge(
  site: Site,
  open: OpenLedger,
  found: RunRecord,
  figures: RunFigures | null,
  campaign: CampaignShape | null = null,
) {
  const { run, isHeld } = figures ?? { run: found, isHeld: site.stats.isHeld(found) };
  const report = summarise(
    {
      path: site.keeper.path,
      isHeld: () => isHeld,
      steps: () => [...(figures?.steps ?? [])],
      changed: () => figures?.changed ?? [],
      secondMessages: () => figures?.secondMessages ?? null,
      pauseOf: (of) => open.ledger.pauseOf(of),
    },
    run,
    null,
    campaign,
    figures?.cameBack ?? null,
  );
  // The time left of a run in progress changes with the clock only.
  const perSecond = paceOf(figures?.lastMinute ?? 0, run.lastStartAtMs, site.context.now());
  return {
    run,
    /** All zeros while `figures` is null. */
    report,
    /** Null during the first count. */
    figures,
    /** Over the last minute. */
    perSecond,
  };
}

/** Judges runs one after the other, so that together they wait at most `patienceMs` for their counts. */
export function judging(site: Site, open: OpenLedger | null, patienceMs: number) {
  const until = performance.now() + patienceMs;
  const known = new Map<number, Judged>();
  let isOld = false;
  return {
    isOld: () => isOld,
    async of(runs: readonly RunRecord[]): Promise<readonly Judged[]> {
      if (open === null) return [];
      for (const run of runs.filter(({ number }) => !known.has(number))) {
        const { value, isOld: isOldRun } = await site.stats.of(run, Math.max(0, until - performance.now()));
        isOld ||= isOldRun;
        known.set(run.number, judge(site, open, run, value));
      }
      return runs.flatMap(({ number }) => known.get(number) ?? []);
    },
  };
}

/** How many did not get the message, with a link to who they are; empty: no one, or it is not known yet. */
export function notDelivered({ run, report: { ends } }: Judged, formats: Formats): Html | string {
  if (ends === undefined || ends.notDelivered === 0) return '';
  const href = address(['runs', run.id, 'recipients'], { end: 'notDelivered' satisfies End });
  return html`<a href="${href}">${formats.number(ends.notDelivered)}</a>`;
}

export function campaignLink(name: string): Html {
  return html`<a class="name" href="${address(['campaigns', name])}">${name}</a>`;
}
