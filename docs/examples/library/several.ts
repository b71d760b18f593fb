import { send } from 'handbill';

// Different campaigns, or different occurrences of one, in one process at once.
const [first, second] = await Promise.all([
  send('digest', { occurrence: 'first' }),
  send('digest', { occurrence: 'second' }),
]);
console.log(first.report.totals.accepted, second.report.totals.accepted);

/* prints
2 2
*/
