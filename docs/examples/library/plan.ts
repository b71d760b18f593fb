import { writeFile } from 'node:fs/promises';
import { approve, approveStanding, checkApproval, plan, planStanding, readPlan, send } from 'handbill';

const made = await plan('digest', { occurrence: 'extra' });
console.log(made.campaign.name, made.estimate.send);
await writeFile('digest.plan.json', JSON.stringify(made));

// Adds a signature to the file; only environments with `approvers` ask for any.
const { compared } = await approve('digest.plan.json', { key: 'signing-key', confirm: ({ plan }) => plan.fingerprint === made.fingerprint });
console.log(compared, (await checkApproval('digest.plan.json')).judgement);

const { report } = await send(readPlan('digest.plan.json'));
console.log(report.occurrence, report.totals.accepted);

// A plan of every occurrence until a day: only for environments that have `approvers` and `standingApprovals`.
const standing = { environment: 'sandbox', until: '2026-12-31' };
await planStanding('digest', standing).catch(({ message }) => console.log(message));
await approveStanding('digest', { ...standing, key: 'signing-key', confirm: true }).catch(({ code }) => console.log(code));

/* prints
digest 2
true null
extra 2
sandbox takes no standing approvals.
not-approved
*/
