import { closeRun, send } from 'handbill';

const { report } = await send('digest', { occurrence: 'third', limit: 1 });
// Those who are left are skipped, and no start continues the run.
const { skipped, report: closed } = await closeRun(report.run, { confirm: true });
console.log(skipped, closed.totals.accepted, closed.state);

/* prints
1 1 finished
*/
