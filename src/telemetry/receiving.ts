import type { Recorded } from '../ledger/records.ts';
import type { LogFields } from '../model/result-types.ts';
import type { LogEvent, LogLevel } from '../operations/observer.ts';
import { eventWords } from '../report/words.ts';
import { mask } from '../util/redact.ts';

/** At most a line a second, with addresses masked and no texts. */
type ListenLog = { recorded(recorded: Recorded): void; flush(): void };

const INTERVAL_MS = 1_000;
/** A line has a number instead of more addresses. */
const MOST_ADDRESSES = 3;

export function createListenLog(say: (line: string) => void): ListenLog {
  return gatherRecorded((recorded) => say(lineOf(recorded)));
}

/** At most once a second, all in one. */
function gatherRecorded(tell: (recorded: Recorded) => void): ListenLog {
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
    unassigned: [...a.unassigned, ...b.unassigned],
  };
}

/** `3 delivery reports, 1 reply, 2 known already; opted out: +44•••••••0123`. */
function lineOf(recorded: Recorded): string {
  const { known, suppressed, lifted } = recorded;
  const not = 'that handbill does not understand';
  const counts = [
    ...eventWords(recorded, [`event ${not}`, `events ${not}`]),
    ...(known === 0 ? [] : [`${known} known already`]),
  ];
  const people = [...named('opted out', suppressed), ...named('opted in again', lifted)];
  return [counts.length === 0 ? 'nothing' : counts.join(', '), ...people].join('; ');
}

function named(says: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) return [];
  const more = addresses.length - MOST_ADDRESSES;
  const shown = addresses.slice(0, MOST_ADDRESSES).map(mask).join(', ');
  return [`${says}: ${shown}${more > 0 ? ` and ${more} more` : ''}`];
}

type WebhookLog = ListenLog & { line(line: string): void };
type Note = <E extends LogEvent>(level: LogLevel, event: E, message: string, fields: LogFields[E]) => void;

export function createWebhookLog(note: Note): WebhookLog {
  const gathered = gatherRecorded((recorded) => {
    const { unassigned: _, suppressed, lifted, ...rest } = recorded;
    const counts = { ...rest, suppressed: suppressed.length, lifted: lifted.length };
    const { reports, replies } = counts;
    note('info', 'webhook-accepted', `Events are held: ${reports} reports, ${replies} replies.`, counts);
  });
  return {
    recorded: gathered.recorded,
    flush: gathered.flush,
    line(line) {
      const refused = REFUSED.exec(line);
      if (refused === null) {
        note(TROUBLE.test(line) ? 'error' : 'info', 'webhook-notice', line, {});
        return;
      }
      const [, status = '0', reason = '', times = '1'] = refused;
      const fields = { httpStatus: Number(status), reason, count: Number(times) };
      note('warn', 'webhook-refused', `A webhook was refused with ${status}: ${reason}.`, fields);
    },
  };
}

/** As `webhook/receive-request.ts` writes it. */
const REFUSED = /^refused: (\d{3}), (.*?)(?: \((\d+) times\))?$/s;
const TROUBLE = /^not stored|by a bug/;
