import type { Recorded } from '../ledger/ledger.ts';
import type { EventCounts, EventFields, LogEvent, LogLevel } from '../operations/observer.ts';
import { gatherRecorded } from './listen-log.ts';

/** Puts what a receiver says into records: what came in at most once a second, and each line about what went wrong. */
export interface WebhookLog {
  recorded(recorded: Recorded): void;
  line(line: string): void;
  flush(): void;
}

type Note = <E extends LogEvent>(level: LogLevel, event: E, message: string, fields: EventFields[E]) => void;

export function createWebhookLog(note: Note): WebhookLog {
  const gathered = gatherRecorded((recorded) => {
    const counts = countsOf(recorded);
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

export function countsOf({ reports, replies, unread, known, suppressed, lifted }: Recorded): EventCounts {
  return { reports, replies, unread, known, suppressed: suppressed.length, lifted: lifted.length };
}
