import { channelsOf, DEVICES } from './devices.ts';
import type { Inbox } from './inbox.ts';
import type { DialectName } from './openapi.ts';
import type { RecipientSettings } from './post-message.ts';
import type { ReportCounts, Reporter } from './reporter.ts';
import { SCENARIOS, type ScriptedNumbers } from './scenarios.ts';

/** What `GET /sandbox` says, as data. */
interface Description {
  readonly name: string;
  readonly send: string;
  readonly received: number;
  readonly accepted: number;
  /** How often each status was answered; `none` counts broken and silent connections. */
  readonly answers: Readonly<Record<string, number>>;
  /** How many requests `GET /sandbox/messages` can show. */
  readonly kept: number;
  readonly dialect: DialectName;
  /** Most recipients of one request. */
  readonly maxRecipients: number;
  /** Whose numbers play the scripts and have the devices below. */
  readonly scripts: ScriptedNumbers;
  readonly scenarios: readonly { readonly digits: string; readonly answers: string; readonly becomes: string }[];
  readonly devices: readonly { readonly digits: string; readonly device: string; readonly takes: string }[];
  /** How many numbers have a device from the file. */
  readonly devicesFromFile: number;
  /** Delivery reports and replies; zeros without a webhook. */
  readonly reports: ReportCounts;
}

/** The parts of the description other than the counts. */
interface Described extends RecipientSettings {
  readonly inbox: Inbox;
  readonly maxRecipients: number;
  readonly reporter: Reporter | null;
}

export function describe(url: string, described: Described): Description {
  const { inbox, dialect, maxRecipients, scripts, devices } = described;
  return {
    name: 'handbill sandbox',
    send: `${url}/v2/messages`,
    received: inbox.received,
    accepted: inbox.accepted,
    answers: Object.fromEntries([...inbox.answers].toSorted(([a], [b]) => a.localeCompare(b))),
    kept: inbox.kept,
    dialect: dialect.name,
    maxRecipients,
    scripts,
    scenarios: SCENARIOS.map(({ digits, answers, becomes }) => ({ digits, answers, becomes })),
    devices: [...DEVICES].map(([digits, one]) => ({ digits, device: one.label, takes: channelsOf(one) })),
    devicesFromFile: devices.size,
    reports: reportsOf(described),
  };
}

/** The delivery reports and replies so far. */
export function reportsOf({ reporter }: Pick<Described, 'reporter'>): ReportCounts {
  return reporter === null ? NO_REPORTS : reporter.counts();
}

const NO_REPORTS: ReportCounts = {
  webhook: null,
  events: 0,
  pending: 0,
  acknowledged: 0,
  givenUp: 0,
  dropped: 0,
  posts: 0,
  retried: 0,
  answers: {},
  ends: {},
  replies: 0,
};

const WHOSE: Readonly<Record<ScriptedNumbers, string>> = {
  reserved: 'Numbers from +447700900000 to +447700900999 choose the answer by their last three digits:',
  all: 'Every number chooses the answer by its last three digits:',
  none: 'Scripted answers are switched off; these would be played:',
};

/** The same, for a person with a browser or curl. */
export function describeAsText(description: Description, says: string): string {
  const { send, received, accepted, answers, kept, dialect, maxRecipients } = description;
  const counts = Object.entries(answers).map(([status, count]) => `${status}: ${count}`);
  return [
    'handbill sandbox: the messaging API on this machine. Nothing that is sent here leaves it.',
    '',
    `POST   ${send}`,
    'GET    /sandbox/messages?to=NUMBER&limit=N   what was received, newest first',
    'DELETE /sandbox/messages                     forgets it',
    'GET    /sandbox/reports                      what was posted to the webhook, and what waits',
    'GET    /sandbox/openapi.json                 the form of requests and answers',
    '',
    `Received ${received}, accepted ${accepted}, kept ${kept}.${counts.length === 0 ? '' : ` Answers: ${counts.join(', ')}.`}`,
    ...reportLines(description.reports),
    `Dialect ${dialect}: ${says}. At most ${maxRecipients} recipients in one request.`,
    '',
    ...scenarioLines(description),
    '',
    ...deviceLines(description),
    '',
  ].join('\n');
}

function reportLines({ webhook, events, pending, acknowledged, givenUp, dropped }: ReportCounts): string[] {
  if (webhook === null) return [];
  const lost = dropped === 0 ? '' : `, dropped ${dropped}`;
  const became = `acknowledged ${acknowledged}, given up ${givenUp}, pending ${pending}${lost}`;
  return [`Events for ${webhook}: ${events}, ${became}.`];
}

function scenarioLines({ scripts, scenarios }: Description): string[] {
  const width = Math.max(...scenarios.map(({ answers }) => answers.length));
  const lines = scenarios.map(({ digits, answers, becomes }) => `...${digits}  ${answers.padEnd(width)}  ${becomes}`);
  return [WHOSE[scripts], '', ...lines, '', 'All others are accepted.'];
}

function deviceLines({ devices, devicesFromFile }: Description): string[] {
  const width = Math.max(...devices.map(({ device }) => device.length));
  const lines = devices.map(({ digits, device, takes }) => `...${digits}  ${device.padEnd(width)}  takes ${takes}`);
  const file = devicesFromFile === 0 ? '' : ` ${devicesFromFile} numbers have theirs from the file of devices.`;
  return ['So do their devices:', '', ...lines, '', `All others take every channel.${file}`];
}
