import { expect, it } from 'vitest';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { createProject } from '../helpers/project.ts';

const LONDON = '+442079460000';
const NEW_YORK = '+12125550123';

/** At each instant, whether a recipient who waits is sent to then: each is another run, as it would begin at that moment. */
const NIGHTS: readonly [label: string, who: string, window: string, instants: Readonly<Record<string, boolean>>][] = [
  [
    'London, forward: 01:30 is missing, so that it opens as much later',
    LONDON,
    '{ from: 01:30, to: 03:00 }',
    {
      '2027-03-28T00:59:59.999Z': false,
      '2027-03-28T01:29:59.999Z': false,
      '2027-03-28T01:30Z': true,
      '2027-03-28T02:00Z': false,
    },
  ],
  [
    'London, forward: 01:30 is missing, and it closes when the clocks jump',
    LONDON,
    '{ from: 00:30, to: 01:30 }',
    { '2027-03-28T00:59:59.999Z': true, '2027-03-28T01:00Z': false },
  ],
  [
    'London, back: 01:30 comes twice, and it closes at the first',
    LONDON,
    '{ from: 00:30, to: 01:30 }',
    { '2027-10-31T00:29:59.999Z': true, '2027-10-31T00:30Z': false, '2027-10-31T01:15Z': false },
  ],
  [
    'London, back: 01:30 comes twice, and it opens at the first and once',
    LONDON,
    '{ from: 01:30, to: 02:30 }',
    {
      '2027-10-31T00:29:59.999Z': false,
      '2027-10-31T00:30Z': true,
      '2027-10-31T01:15Z': true,
      '2027-10-31T02:30Z': false,
    },
  ],
  [
    'New York, forward',
    NEW_YORK,
    '{ from: 02:15, to: 04:00 }',
    { '2027-03-14T07:14:59.999Z': false, '2027-03-14T07:15Z': true, '2027-03-14T08:00Z': false },
  ],
  [
    'New York, back',
    NEW_YORK,
    '{ from: 01:15, to: 01:45 }',
    { '2027-11-07T05:15Z': true, '2027-11-07T05:45Z': false, '2027-11-07T06:15Z': false },
  ],
];

it.each(NIGHTS)('%s', async (_label, who, window, instants) => {
  using here = createProject({
    'handbill.yaml': '{}\n',
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\nsend: { window: ${window} }\n`,
    'hello/people.csv': `msisdn\n${who}\n`,
  });
  for (const [at, isOpen] of Object.entries(instants)) {
    const common = {
      cwd: here.root,
      env: {},
      now: () => Date.parse(at),
      occurrence: `at-${at.replaceAll(/[^0-9]/g, '')}`,
    };
    const shown = await previewRows('hello', common);
    const decided: string[] = [];
    for await (const batch of shown.batches) decided.push(...batch.map(({ decision }) => decision.decision));
    shown.close();
    expect(`${at} ${decided}`).toBe(`${at} ${isOpen ? 'send' : 'defer'}`);
    const { posted, report } = await send('hello', { ...common, random: () => 0 });
    expect(`${at} ${posted}`).toBe(`${at} ${isOpen ? 1 : 0}`);
    expect(report.totals).toMatchObject(isOpen ? { accepted: 1 } : { deferred: 1 });
  }
});
