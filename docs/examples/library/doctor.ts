import { doctor } from 'handbill';

const { checks } = await doctor({ campaign: 'hello' });
console.log(checks.find(({ check }) => check === 'ledger')?.status);
for (const { check, status, code } of checks) if (status === 'problem') console.log(check, code);

/* prints
ok
webhooks missing-webhook-secret
*/
