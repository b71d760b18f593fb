import { purge } from 'handbill';

const { purged, left } = await purge({ olderThanMs: 90 * 24 * 3_600_000, dryRun: true });
console.log(purged, left);

// Asked with what would be done; `confirm: true` does it.
const done = await purge({ olderThanMs: 0, campaign: 'hello', confirm: ({ purged }) => purged.length === 1 });
console.log(done.purged.map(({ campaign, recipients }) => [campaign, recipients]));

/* prints
[] []
[ [ 'hello', 4 ] ]
*/
