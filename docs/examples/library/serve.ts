import { serve } from 'handbill';

await using pages = await serve({ port: 0, open: true, log: (line) => process.stderr.write(`${line}\n`) });
const answer = await fetch(pages.url);
console.log(answer.status, answer.headers.get('content-type'));

/* prints
200 text/html; charset=utf-8
*/
