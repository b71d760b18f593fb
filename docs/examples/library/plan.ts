import { writeFile } from 'node:fs/promises';
import { approve, checkApproval, plan, readPlan, send } from 'handbill';

const sealed = await plan('digest', { occurrence: 'extra' });
console.log(sealed.campaign.name, sealed.estimate.send);
await writeFile('digest.plan.json', JSON.stringify(sealed));

// Adds a signature to the file; only environments with `approvers` ask for any.
const { compared } = await approve('digest.plan.json', { key: 'signing-key', confirm: ({ plan }) => plan.seal === sealed.seal });
console.log(compared, (await checkApproval('digest.plan.json')).judgement);

const { report } = await send(await readPlan('digest.plan.json'));
console.log(report.occurrence, report.totals.accepted);

/* prints
digest 2
true null
extra 2
*/
