import type { Recorded } from '../ledger/ledger.ts';
import { mask } from '../util/mask.ts';

/** Says what came in, at most a line a second, with addresses masked and no texts. */
export interface ListenLog {
  recorded(recorded: Recorded): void;
  /** Says what was held back. */
  flush(): void;
}

const INTERVAL_MS = 1_000;

/** Addresses of one line: more of them are a number. */
const MOST_ADDRESSES = 3;

export function createListenLog(say: (line: string) => void): ListenLog {
  return gatherRecorded((recorded) => say(lineOf(recorded)));
}

/** Hands on what came in, at most once a second: what came meanwhile as one. */
export function gatherRecorded(tell: (recorded: Recorded) => void): ListenLog {
  let held: Recorded | null = null;
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (held !== null) tell(held);
    held = null;
  };
  return {
    recorded(recorded) {
      held = held === null ? recorded : sum(held, recorded);
      if (timer !== null) return;
      tell(held);
      held = null;
      timer = setTimeout(flush, INTERVAL_MS);
      timer.unref();
    },
    flush,
  };
}

function sum(a: Recorded, b: Recorded): Recorded {
  return {
    reports: a.reports + b.reports,
    replies: a.replies + b.replies,
    unread: a.unread + b.unread,
    known: a.known + b.known,
    suppressed: [...a.suppressed, ...b.suppressed],
    lifted: [...a.lifted, ...b.lifted],
  };
}

/** `3 delivery reports, 1 reply, 2 known already; opted out: +44•••••••0123`. */
function lineOf(recorded: Recorded): string {
  const { reports, replies, unread, known, suppressed, lifted } = recorded;
  const counts = [
    ...counted(reports, 'delivery report'),
    ...counted(replies, 'reply', 'replies'),
    ...counted(unread, 'event that handbill does not understand', 'events that handbill does not understand'),
    ...(known === 0 ? [] : [`${known} known already`]),
  ];
  const people = [...named('opted out', suppressed), ...named('opted in again', lifted)];
  return [counts.length === 0 ? 'nothing' : counts.join(', '), ...people].join('; ');
}

function counted(count: number, one: string, many = `${one}s`): readonly string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
}

function named(says: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) return [];
  const more = addresses.length - MOST_ADDRESSES;
  const shown = addresses.slice(0, MOST_ADDRESSES).map(mask).join(', ');
  return [`${says}: ${shown}${more > 0 ? ` and ${more} more` : ''}`];
}
