import { erasePerson, purge } from 'handbill';

// One person, who is on the suppression list from then on; without `keepSuppressed` as a keyed hash.
const erased = await erasePerson('07700 900039', { keepSuppressed: true, confirm: true });
console.log(erased.runs.length, erased.suppressed);

const { purged, left } = await purge({ olderThanMs: 90 * 24 * 3_600_000, dryRun: true });
console.log(purged, left);

// Asked with what would be done; `confirm: true` does it.
const done = await purge({ olderThanMs: 0, campaign: 'hello', confirm: ({ purged }) => purged.length === 1 });
console.log(done.purged.map(({ campaign, recipients }) => [campaign, recipients]));

/* prints
0 { as: 'address', addresses: 1 }
[] []
[ [ 'hello', 4 ] ]
*/
