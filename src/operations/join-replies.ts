import type { ProjectReading } from '../campaign/project.ts';
import type { Joined, Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { createReferences } from '../plan/reference.ts';
import { listedForm } from '../suppression/form.ts';
import type { CommandContext } from './context.ts';
import { paced } from './paced.ts';

/**
 * Finds the messages that replies answer, in a ledger that is open for writing. Other processes get the ledger between
 * two steps. `stopped` ends it between two steps, and the next call continues from there.
 */
export async function joinReplies(
  ledger: { readonly events: Pick<Ledger['events'], 'joinReplies'> },
  facts: { readonly now: () => number; readonly startLifts: boolean; readonly stopped?: () => boolean },
): Promise<Joined> {
  const suppressed: string[] = [];
  let joined = 0;
  const steps = ledger.events.joinReplies({ ...facts, listed: listedForm, referencesOf: createReferences });
  while (facts.stopped?.() !== true) {
    const step = await paced(() => steps.next());
    if (step.done === true) break;
    joined += step.value.joined;
    suppressed.push(...step.value.suppressed);
  }
  return { joined, suppressed };
}

/**
 * The same for the ledger of a project, before something is shown of it; nothing where nothing has come in. Returns why
 * it could not be done: what is shown is true all the same, but may not say which campaign a reply belongs to.
 *
 * @throws HandbillError exit 7: the ledger cannot be read
 */
export async function joinRepliesOf(
  { project }: Pick<ProjectReading, 'project'>,
  { now }: Pick<CommandContext, 'now'>,
): Promise<{ readonly problem: string | null }> {
  const read = openExistingLedger(project.ledger, { nowMs: now() });
  const isDue = read?.events.hasUnjoined() === true;
  read?.close();
  if (!isDue) return { problem: null };
  try {
    const ledger = openLedger(project.ledger, { mode: 'write', nowMs: now() });
    try {
      await joinReplies(ledger, { now, startLifts: project.webhook.replies.startLifts });
    } finally {
      ledger.close();
    }
  } catch (error) {
    if (error instanceof LedgerError && PASSING.has(error.kind)) return { problem: error.message };
    throw error;
  }
  return { problem: null };
}

/** Another process holds the ledger, the disk is full, or the ledger is read-only. */
const PASSING: ReadonlySet<string> = new Set(['busy', 'full', 'readonly']);
