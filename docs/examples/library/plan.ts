import { writeFile } from 'node:fs/promises';
import { approve, checkApproval, plan, readPlan, send } from 'handbill';

const made = await plan('digest', { occurrence: 'extra' });
console.log(made.campaign.name, made.estimate.send);
await writeFile('digest.plan.json', JSON.stringify(made));

// Adds a signature to the file; only environments with `approvers` ask for any.
const { compared } = await approve('digest.plan.json', { key: 'signing-key', confirm: ({ plan }) => plan.seal === made.seal });
console.log(compared, (await checkApproval('digest.plan.json')).judgement);

const { report } = await send(await readPlan('digest.plan.json'));
console.log(report.occurrence, report.totals.accepted);

/* prints
digest 2
true null
extra 2
*/
