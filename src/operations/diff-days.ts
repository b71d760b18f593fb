import { stat, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { readProject } from '../campaign/project.ts';
import type { CompareOptions } from '../diff/compare-campaign.ts';
import { compareDays, type PlayedSide } from '../diff/compare-days.ts';
import { createFindings } from '../diff/read-campaign-side.ts';
import type { RehearsalDiff } from '../diff/result.ts';
import { chooseLists, lendFiles, lookAt, type Placed, type Side } from '../diff/side.ts';
import { EXIT, HandbillError, refuse } from '../errors.ts';
import type { ComparedSide } from '../model.ts';
import { isPostgres, placeOfLedger } from '../util/ledger-address.ts';
import { iso } from '../util/time.ts';
import { present } from './options.ts';
import { copyToPlay, midnightAfter, type RehearseOptions, rehearse } from './rehearse.ts';
import { NOTHING_SCHEDULED } from './schedule.ts';

interface DaysOptions extends CompareOptions, Pick<RehearseOptions, 'allow' | 'ledger' | 'meter'> {
  readonly days: number;
  /** Zone of the days, that of the new side. */
  readonly timeZone: string;
  /** Private, for copies of the ledger. */
  readonly folder: string;
}

/** The same on both sides, or messages of campaigns that do not change would move. */
const EVERY_MS = 60_000;

/**
 * Plays the coming days on both sides: all campaigns, as they share budgets, caps and the calls of `due`. What cannot be
 * played of a side is in its errors.
 * @throws HandbillError exit 2, 7: the ledger cannot be used; 130 (`signal`)
 */
export async function rehearseBoth(
  pairs: readonly (readonly [before: Placed | null, after: Placed | null])[],
  [before, after]: readonly [Side, Side],
  options: DaysOptions,
): Promise<RehearsalDiff> {
  const { days, now, timeZone, workTree } = options;
  const lists = new Map<string, string>();
  for (const pair of pairs) {
    const chosen = await chooseLists(...pair, options);
    for (const [i, placed] of pair.entries()) {
      if (placed === null) continue;
      const list = i === 0 ? chosen.before : chosen.after;
      if (list.path !== null) lists.set(placed.file.path, list.path);
      else if (placed.side.root !== workTree.root) await lendAge(placed, options);
      // Those of campaigns that are not compared, too.
      await lendFiles(placed, workTree);
    }
  }
  const { place, path: ledger, assumed } = await copyOnce(options);
  const side: ComparedSide = { listOf: (path) => lists.get(path), timeZone };
  const play = async (at: 0 | 1, { root }: Side): Promise<PlayedSide> => {
    const names = new Map(pairs.map((pair) => [pair[at]?.file.place, pair[1]?.file.name ?? pair[0]?.file.name]));
    const played = { rehearsal: null, errors: [], nameOf: (file: string) => names.get(file) ?? null };
    const { environment, env, allow, signal, meter } = options;
    const given = { cwd: root, env, now: () => now, environment, days, everyMs: EVERY_MS, ledger, signal, side };
    try {
      return { ...played, rehearsal: await rehearse([], { ...given, ...present({ allow, meter }) }) };
    } catch (error) {
      if (!(error instanceof HandbillError) || error.exit !== EXIT.refused) throw error;
      if (error.message === NOTHING_SCHEDULED) return played;
      const findings = createFindings({ root });
      findings.add(error.diagnostics, null);
      return { ...played, errors: findings.list() };
    }
  };
  const was = await play(0, before);
  const is = await play(1, after);
  const borrowed = lists.size === 0 ? [] : ['A list that is not here is that of the other side, or its sample.'];
  return {
    days,
    at: iso(now),
    until: iso(midnightAfter(now, days, timeZone)),
    timeZone,
    ledger: place,
    assumed: [...assumed, ...(options.recipients === null ? borrowed : []), ...assumedOf(was, is)],
    ...compareDays(was, is, timeZone),
  };
}

/** A sentence of one side says of which: the other side may assume the opposite. */
function assumedOf({ rehearsal: was }: PlayedSide, { rehearsal: is }: PlayedSide): readonly string[] {
  if (was === null || is === null) return (was ?? is)?.assumed ?? [];
  const before = was.assumed.map((one) => (is.assumed.includes(one) ? one : `Before the change: ${one}`));
  return [...before, ...is.assumed.flatMap((one) => (was.assumed.includes(one) ? [] : [`After the change: ${one}`]))];
}

/** Git keeps no times: a list is as old as that of the work tree. */
async function lendAge(placed: Placed, { workTree, env }: DaysOptions): Promise<void> {
  const { path } = await lookAt(placed, env);
  const own =
    path === null ? null : await stat(join(workTree.root, relative(placed.side.root, path))).catch(() => null);
  // Without it in a checkout, the campaign is refused.
  if (own !== null && path !== null) await utimes(path, own.atime, own.mtime).catch(() => undefined);
}

/**
 * One moment of the ledger for both sides. It is that of the work tree, but a server only where the user names it: a change
 * must not decide what its readers connect to.
 */
async function copyOnce({ ledger, now, folder, workTree }: DaysOptions) {
  const { project, diagnostics, ledgerFault } = readProject(workTree.place, { cwd: workTree.root, ledger });
  const fault = ledgerFault ?? diagnostics.find(({ at, severity }) => severity === 'error' && at === undefined);
  if (fault !== undefined) throw refuse(fault);
  const path = join(folder, 'ledger.db');
  const isUnasked = ledger === undefined && isPostgres(project.ledger);
  const place = placeOfLedger(project.ledger, workTree.root);
  if (copyToPlay(isUnasked ? join(folder, 'none.db') : project.ledger, path, now)) return { path, place, assumed: [] };
  const unasked = 'the shared ledger of handbill.yaml is asked only where --ledger or HANDBILL_LEDGER names it';
  return {
    path,
    place: null,
    assumed: [`Nothing was sent before: ${isUnasked ? unasked : `there is no ledger at ${place}`}.`],
  };
}
