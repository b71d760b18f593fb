import type { WindowHours, WindowRule } from '../model.ts';

/**
 * When marketing messages are sent by practice, by the country of the number (ISO 3166-1) in the recipient's own time.
 * Practice, not legal advice: sources disagree for nearly every country, laws change, and some hold only for calls. Used
 * where a campaign says `send.window.countries: true`; handbill.yaml says otherwise under `windows`.
 *
 * States of the USA have hours of their own (Texas from 12:00 on Sundays, Rhode Island until 17:00 at weekends): a
 * number does not tell in which one its owner lives. The hours here are those that most of them share.
 */
export const COUNTRY_WINDOWS: Readonly<Record<string, WindowRule>> = {
  // Federal law for calls and texts: 08:00 to 21:00; several states until 20:00, Connecticut from 09:00.
  US: daily('09:00', '20:00'),
  // The anti-spam law names no hours; practice as in the USA.
  CA: daily('09:00', '20:00'),
  // Networks block from 22:00, on Sundays and on public holidays (which are for `holidays`); guides say until 20:00.
  FR: on([1, 2, 3, 4, 5, 6], '08:00', '20:00'),
  // The registry refuses promotional messages outside of 10:00 to 21:00.
  IN: daily('10:00', '21:00'),
  // No hours in the law; practice.
  GB: daily('08:00', '20:00'),
  // Hours of calls, which messages follow.
  AU: {
    hours: [...on([1, 2, 3, 4, 5], '09:00', '20:00').hours, ...on([6], '09:00', '17:00').hours],
    holidays: [],
  },
  ES: daily('09:00', '20:00'),
  DE: daily('09:00', '20:00'),
  IT: daily('09:00', '20:00'),
};

/** Where the table names no country, and the campaign no hours. */
export const OTHER_COUNTRIES: WindowRule = daily('08:00', '20:00');

function daily(from: string, to: string): WindowRule {
  return on([1, 2, 3, 4, 5, 6, 7], from, to);
}

function on(days: WindowHours['days'], from: string, to: string): WindowRule {
  return { hours: [{ fromMinute: minuteOf(from), toMinute: minuteOf(to), days }], holidays: [] };
}

function minuteOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}
