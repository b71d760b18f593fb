import { preview } from 'handbill';

const dry = preview('hello');
for await (const row of dry.decisions) {
  if (row.decision === 'send') console.log(row.line, row.to, row.text, `${row.parts} part`);
  else if (row.decision === 'skip') console.log(row.line, row.reason);
}
const { valid, estimate } = await dry.result();
console.log(valid, estimate.rows, estimate.send, estimate.skipped['duplicate']);

/* prints
2 +447700900011 Hello Ada, your table is ready. Are you on your way? 1 part
3 +447700900012 Hello Ravi, your table is ready. Are you on your way? 1 part
4 duplicate
5 +447700900901 Hello Zoe, your table is ready. Are you on your way? 1 part
true 4 3 1
*/
