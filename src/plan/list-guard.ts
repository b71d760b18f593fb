import { type Code, type Diagnostic, problem, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunIdentity } from '../ledger/records.ts';
import { ALLOWABLE, type Allowable, type Campaign } from '../model.ts';
import { countOf, number } from '../report/words.ts';
import { isTest } from '../util/occurrence-name.ts';
import { iso } from '../util/time.ts';

export interface ListFacts {
  readonly file: string;
  /** Rows, whatever becomes of them: a segment or a suppression list may leave out any number. */
  readonly rows: number;
  /** When the file was last written, in ms since 1970; null: the recipients are in the campaign file. */
  readonly changedAtMs: number | null;
  readonly sha256: string;
}

export interface ListGuard {
  /** Each guard that the list fails, as an error; or as a warning where a person allowed it. */
  judge(list: ListFacts): readonly Diagnostic[];
}

/** For a test, which sends to no recipient of the list. */
export const UNGUARDED: ListGuard = { judge: () => [] };

interface GuardOptions {
  readonly nowMs: number;
  /** A guard whose code is allowed is a warning. */
  readonly allow?: readonly Allowable[];
  /** The campaign goes out by its schedule: a list without a row is refused unless the campaign allows it. */
  readonly isDue?: boolean | undefined;
}

/** Null ledger: no earlier run is known. */
export function openListGuard(
  campaign: Pick<Campaign, 'guards' | 'file' | 'recipients'>,
  ledger: Ledger | null,
  identity: RunIdentity,
  { nowMs, allow = [], isDue = false }: GuardOptions,
): ListGuard {
  const { guards, file, recipients } = campaign;
  const { maxAge, minRecipients, change } = guards;
  // A sample is as short and as old as it is.
  if (recipients.sampled !== undefined) return UNGUARDED;
  return {
    judge(list) {
      const run = ledger?.findRun(identity) ?? null;
      const isSame = run?.inputs.some(({ role, sha256 }) => role === 'recipients' && sha256 === list.sha256) === true;
      // The run was begun with these bytes: what was let through once is not asked about again, however old it is by now.
      // A run without a row sent nothing and recorded nothing.
      if (isSame && run.rows > 0) return [];
      const last = change === null || ledger === null ? null : lastSent(ledger, identity);
      const found = [
        ...(maxAge === null || list.changedAtMs === null ? [] : tooOld(list, maxAge, list.changedAtMs, nowMs)),
        ...tooFew(list, minRecipients, isDue, file),
        ...(change === null || last === null ? [] : otherSize(list, change, last)),
      ];
      const allowed: readonly Code[] = allow;
      return found.map((one) =>
        allowed.includes(one.code) ? warning(one.code, one.message, one.at && { at: one.at }) : one,
      );
    },
  };
}

const ONCE = 'If the list is as it should be:';

type SentList = { readonly occurrence: string; readonly rows: number };

const SENT: ReadonlySet<string> = new Set(['accepted', 'rejected', 'in-doubt']);

/** The newest run for another occurrence that sent something, and whose list size needed no `--allow`. */
function lastSent(ledger: Ledger, identity: RunIdentity): SentList | null {
  const others = ledger.runsOf(identity).filter(({ occurrence }) => occurrence !== identity.occurrence);
  for (const run of others.toReversed()) {
    if (isTest(run.occurrence) || run.inputs.some(({ isOtherSize = false }) => isOtherSize)) continue;
    const counts = ledger.counts(run);
    if (!counts.some(({ outcome }) => SENT.has(outcome))) continue;
    // Rows that an amended list no longer had are kept by the run, and were not in its list.
    const rows = counts.reduce((sum, { reason, count }) => (reason === 'removed' ? sum : sum + count), 0);
    return { occurrence: run.occurrence, rows };
  }
  return null;
}

type Guard<K extends keyof Campaign['guards']> = NonNullable<Campaign['guards'][K]>;

function tooOld(list: ListFacts, { ms, text, place }: Guard<'maxAge'>, changedAtMs: number, nowMs: number) {
  // A clock that was set back makes a file of the future, which is new in any case.
  if (nowMs - changedAtMs <= ms) return [];
  const message = `The list ${list.file} was written ${age(nowMs - changedAtMs)} ago (${iso(changedAtMs)}); recipients.maxAge allows ${text}.`;
  return [
    problem('list-too-old', message, {
      ...place,
      hint: `Look whether the export still runs. ${ONCE} ${ALLOWABLE['list-too-old']}`,
    }),
  ];
}

function tooFew({ rows, file }: ListFacts, least: Guard<'minRecipients'> | null, isDue: boolean, campaign: string) {
  if (least === null ? rows > 0 || !isDue : rows >= least.count) return [];
  const allow = `${ONCE} ${ALLOWABLE['list-too-short']}`;
  if (least !== null) {
    const message = `The list has ${countOf(rows, 'recipient')}; limits.minRecipients asks for ${number(least.count)}.`;
    const hint = `Look whether the list is complete. ${allow}`;
    return [problem('list-too-short', message, { ...least.place, hint })];
  }
  const message = `The list ${file} has no recipient, and the campaign does not say that it may be empty.`;
  const hint = `Look whether the export failed. If the list may be empty, set \`limits: { minRecipients: 0 }\`. ${allow}`;
  return [problem('list-too-short', message, { at: { file: campaign }, hint })];
}

function otherSize({ rows }: ListFacts, { share, text, place }: Guard<'change'>, last: SentList) {
  const changed = Math.abs(rows - last.rows) / last.rows;
  // As exact as counts of rows are: 30% of 10 is 3.
  if (Number(changed.toPrecision(12)) <= share) return [];
  // Rounded up, so that what is above the limit is never shown as the limit.
  const percent = number(Math.ceil(Number((changed * 1000).toPrecision(12))) / 10);
  const than = `${percent}% ${rows < last.rows ? 'fewer' : 'more'} than the ${number(last.rows)} of ${last.occurrence}`;
  const message = `${countOf(rows, 'recipient')}, ${than}; limits.change allows ${text}.`;
  const hint = `Look whether the list is complete. ${ONCE} ${ALLOWABLE['list-size-changed']} If lists stay this long: leave limits.change out for one occurrence.`;
  return [problem('list-size-changed', message, { ...place, hint })];
}

/** `3 days`, `26 hours`, `5 minutes`: rounded down. */
function age(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return countOf(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 72 ? countOf(hours, 'hour') : countOf(Math.floor(hours / 24), 'day');
}
