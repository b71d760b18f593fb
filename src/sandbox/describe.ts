import type { Inbox } from './inbox.ts';
import { SCENARIOS, type ScriptedNumbers } from './scenarios.ts';

/** What `GET /sandbox` says, as data. */
export interface Description {
  readonly name: string;
  readonly send: string;
  readonly received: number;
  readonly accepted: number;
  /** How often each status was answered; `none` counts broken and silent connections. */
  readonly answers: Readonly<Record<string, number>>;
  /** How many requests `GET /sandbox/messages` can show. */
  readonly kept: number;
  /** Whose numbers play the scripts. */
  readonly scripts: ScriptedNumbers;
  readonly scenarios: readonly { readonly digits: string; readonly answers: string; readonly becomes: string }[];
}

export function describe(url: string, scripts: ScriptedNumbers, inbox: Inbox): Description {
  return {
    name: 'handbill sandbox',
    send: `${url}/v2/messages`,
    received: inbox.received,
    accepted: inbox.accepted,
    answers: Object.fromEntries([...inbox.answers].toSorted(([a], [b]) => a.localeCompare(b))),
    kept: inbox.kept,
    scripts,
    scenarios: SCENARIOS.map(({ digits, answers, becomes }) => ({ digits, answers, becomes })),
  };
}

const WHOSE: Readonly<Record<ScriptedNumbers, string>> = {
  reserved: 'Numbers from +447700900000 to +447700900999 choose the answer by their last three digits:',
  all: 'Every number chooses the answer by its last three digits:',
  none: 'Scripted answers are switched off; these would be played:',
};

/** The same, for a person with a browser or curl. */
export function describeAsText(description: Description): string {
  const { send, received, accepted, answers, kept, scripts, scenarios } = description;
  const counts = Object.entries(answers).map(([status, count]) => `${status}: ${count}`);
  const width = Math.max(...scenarios.map((scenario) => scenario.answers.length));
  return [
    'handbill sandbox: the messaging API on this machine. Nothing that is sent here leaves it.',
    '',
    `POST   ${send}`,
    'GET    /sandbox/messages?to=NUMBER&limit=N   what was received, newest first',
    'DELETE /sandbox/messages                     forgets it',
    '',
    `Received ${received}, accepted ${accepted}, kept ${kept}.${counts.length === 0 ? '' : ` Answers: ${counts.join(', ')}.`}`,
    '',
    WHOSE[scripts],
    '',
    ...scenarios.map((one) => `...${one.digits}  ${one.answers.padEnd(width)}  ${one.becomes}`),
    '',
    'All others are accepted.',
    '',
  ].join('\n');
}
