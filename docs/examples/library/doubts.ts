import { listDoubts, resolveDoubts } from 'handbill';

const doubts = await listDoubts({ run: 'hello' });
console.log(doubts.map(({ line, reason }) => `${line}: ${reason}`));

const { resolved, report } = await resolveDoubts('hello', {
  verdict: 'accepted',
  lines: doubts.map(({ line }) => line),
  by: 'ops@example.com',
  note: 'the provider has it',
  confirm: true,
});
console.log(resolved.length, report.totals.inDoubt, report.totals.accepted);

/* prints
[ '5: no-response' ]
1 0 3
*/
