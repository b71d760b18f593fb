import { due, rehearse, schedule, scheduleCallers } from 'handbill';

const monday = Date.parse('2026-11-23T09:02:00Z');
const { campaigns } = await schedule(['digest'], { at: monday, next: 1 });
console.log(campaigns[0]?.cron, campaigns[0]?.next);

const { items } = await due([], { dryRun: true, at: monday });
console.log(items.map(({ campaign, action, next }) => [campaign, action, next]));

// The next days in virtual time: nothing is sent.
const { occurrences } = await rehearse(['digest'], { days: 7 });
console.log(occurrences.every(({ campaign, state }) => campaign === 'digest' && state === 'finished'));

// Without `dryRun` it sends, one campaign after the other; a loop shows each as it is done.
for await (const { campaign, exit } of due(['digest'], { confirm: true })) console.log(campaign, exit);

const [file] = await scheduleCallers('crontab', ['digest'], { ledger: '/var/lib/handbill/ledger.db' });
console.log(file?.text.includes('due ./campaigns/digest/campaign.yaml'));

/* prints
0 9 * * 1-5 [
  {
    occurrence: '2026-11-24T09:00:00Z',
    local: 'Tue, 24 Nov 2026, 09:00 GMT'
  }
]
[ [ 'digest', 'send', '2026-11-24T09:00:00Z' ] ]
true
digest 0
true
*/
