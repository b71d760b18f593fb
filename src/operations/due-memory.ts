import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Project } from '../model.ts';
import { writeOutput } from '../util/files.ts';
import { isMapping, parseJson } from '../util/json.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { readSmallFile } from '../util/paths.ts';

/*
 * Reports of earlier `due` calls, so that it reports each event once. A file on this machine, not a table of the
 * ledger: it must not follow the ledger's clock, which a refused call may not move; a ledger that cannot be written is
 * also a refusal to report; and on a shared ledger each machine has its cron, which mails to its own people.
 */

/** An occurrence that was due, and was not sent to all of its recipients in time. */
export interface MissedOccurrence {
  readonly environment: string;
  readonly campaign: string;
  readonly occurrence: string;
  /** When `due` noticed it, in ms since 1970. */
  readonly atMs: number;
}

export type DueMemory = Awaited<ReturnType<typeof openDueMemory>>;

interface Said {
  readonly missed: readonly MissedOccurrence[];
  readonly refused: Readonly<Record<string, { readonly sha256: string; readonly atMs: number }>>;
}

const NOTHING_SAID: Said = { missed: [], refused: {} };
/** A refusal that does not change is reported again after this time. */
const REPEAT_MS = 3_600_000;
/** A missed occurrence is shown, and not reported again, for this time. */
const SHOWN_MS = 31 * 86_400_000;
const MAX_BYTES = 4_000_000;

export async function openDueMemory(project: Pick<Project, 'root' | 'ledger'>, nowMs: number) {
  const path = pathOf(project);
  const before = read(path);
  const missed = before.missed.filter(({ atMs }) => atMs > nowMs - SHOWN_MS);
  const refused: Record<string, { sha256: string; atMs: number }> = {};
  let isChanged = false;
  return {
    /** Whether an earlier call reported this occurrence; marks it as reported. */
    missed(one: Omit<MissedOccurrence, 'atMs'>): boolean {
      const isKnown = missed.some(
        ({ environment, campaign, occurrence }) =>
          environment === one.environment && campaign === one.campaign && occurrence === one.occurrence,
      );
      if (!isKnown) missed.push({ ...one, atMs: nowMs });
      isChanged ||= !isKnown;
      return isKnown;
    },
    /** Whether a call reported the same refusal within the last hour; else marks it as reported now. */
    refused({ environment, file, text }: { environment: string; file: string; text: string }): boolean {
      const key = `${environment} ${file}`;
      const sha256 = hash('sha256', text, 'hex');
      const last = before.refused[key];
      // A clock that was set back says nothing about the hour.
      const isRepeated =
        last !== undefined && last.sha256 === sha256 && last.atMs <= nowMs && nowMs - last.atMs < REPEAT_MS;
      refused[key] = isRepeated ? last : { sha256, atMs: nowMs };
      isChanged ||= !isRepeated;
      return isRepeated;
    },
    /** Newest first. */
    occurrences: (): readonly MissedOccurrence[] => missed.toSorted((a, b) => b.atMs - a.atMs),
    /** Writes the file. If that fails, the next call reports everything again. */
    async save(): Promise<void> {
      if (!isChanged && Object.keys(before.refused).length === Object.keys(refused).length) return;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeOutput(path, [`${JSON.stringify({ missed, refused })}\n`]);
      } catch {
        // `due` prints it once more, which does no harm.
      }
    },
  };
}

/** Occurrences that were missed in the last 31 days, the newest first. */
export function missedOccurrences(project: Pick<Project, 'root' | 'ledger'>, nowMs: number) {
  const { missed } = read(pathOf(project));
  return missed.filter(({ atMs }) => atMs > nowMs - SHOWN_MS).toSorted((a, b) => b.atMs - a.atMs);
}

/** Beside the ledger; for one on a server, where that of the project would be. */
function pathOf({ root, ledger }: Pick<Project, 'root' | 'ledger'>): string {
  return join(isPostgres(ledger) ? join(root, '.handbill') : dirname(ledger), 'due.json');
}

function read(path: string): Said {
  const found = readSmallFile(path, MAX_BYTES);
  const said = 'fault' in found ? undefined : parseJson(new TextDecoder().decode(found.bytes));
  return isSaid(said) ? said : NOTHING_SAID;
}

function isSaid(value: unknown): value is Said {
  if (!isMapping(value)) return false;
  const { missed, refused } = value;
  const isMissed = (one: unknown): boolean =>
    isMapping(one) &&
    [one['environment'], one['campaign'], one['occurrence']].every((part) => typeof part === 'string') &&
    typeof one['atMs'] === 'number';
  return Array.isArray(missed) && missed.every(isMissed) && isMapping(refused);
}
