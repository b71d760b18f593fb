import { listRuns, outcomes, report } from 'handbill';

const lines = (await listRuns()).map(({ campaign, occurrence, state }) => `${campaign} ${occurrence} ${state}`);
for (const line of lines.sort()) console.log(line);

for await (const { line, outcome, reason, messageId } of outcomes('hello')) {
  console.log(line, outcome, reason, messageId !== null);
}

// Leaving a loop early closes the ledger.
for await (const { to } of outcomes('hello', { outcomes: ['in-doubt'] })) {
  console.log(to);
  break;
}

const { totals, requests } = await report('hello');
console.log(totals.inDoubt, requests.posted);

/* prints
digest first finished
digest second finished
hello once finished
2 accepted null true
3 accepted null true
4 skipped duplicate false
5 in-doubt no-response false
+447700900901
1 3
*/
