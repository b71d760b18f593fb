import { edit, type Mutant, mutant } from './mutant.ts';

const GATE = 'src/plan/each.ts';

const HISTORIES = { in: 'simulate/each/each.test.ts', only: 'once and in time' };

/** Rows with times: what sends twice, too early, too late, or what was cancelled. */
export const EACH: readonly Mutant[] = [
  mutant('each-window-moves-later', {
    planted: 'a message that is due while the window is closed waits for the next opening',
    file: GATE,
    was: 'if (openingOf(calendars, dueMs).open) return dueMs;',
    is: 'if (openingOf(calendars, dueMs).changesAtMs > 0) return dueMs;',
    proof: HISTORIES,
  }),
  mutant('each-behind-its-time', {
    planted: 'a message goes out up to an hour behind the time of its row',
    file: 'src/plan/gate.ts',
    was: 'Math.min(atMs, atMs - before.ms + validMs);',
    is: 'Math.min(atMs + 3_600_000, atMs - before.ms + validMs);',
    proof: HISTORIES,
  }),
  mutant('each-not-taken-over', {
    planted: 'a run leaves to earlier ones what they have not sent, also what was cancelled',
    ...edit('src/send/prepare.ts', 'takesOver: plan.campaign.recipients.each !== null', 'takesOver: false'),
    proof: HISTORIES,
  }),
  mutant('each-sent-by-each-run', {
    planted: 'a run does not ask for what other runs of the campaign sent',
    file: 'src/ledger/contact-history.ts',
    was: 'isSame: campaign === own.campaign && isSince(rules.sameSinceMs ?? null),',
    is: 'isSame: false,',
    proof: HISTORIES,
  }),
  mutant('each-by-address', {
    planted: 'who was sent to for one time gets no message for another one',
    file: 'src/ledger/contact-history.ts',
    was: 'if (source.isSame && sentAt(source, message, key, key) >= 0) return source;',
    is: 'if (source.isSame && sentAt(source, message, to, key) >= 0) return source;',
    proof: { in: 'ledger/each.test.ts' },
  }),
  mutant('each-key-without-time', {
    planted: 'a person who has two times in one list is a duplicate',
    ...edit('src/recipients/recipient.ts', 'key: keyWithTime(recipient.key, atMs), atMs', 'atMs'),
    proof: { in: 'send/each.test.ts' },
  }),
];
