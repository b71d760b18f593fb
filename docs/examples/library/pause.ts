import { HandbillError, pauseSending, resumeSending, send } from 'handbill';

const production = { environment: 'sandbox', by: 'ann@ops-1' };
await pauseSending({ ...production, reason: 'wrong prices' });
try {
  await send('digest');
} catch (error) {
  if (error instanceof HandbillError) console.log(error.exit, error.code);
}
const { ended } = await resumeSending(production);
console.log(ended?.reason);

/* prints
5 paused
wrong prices
*/
