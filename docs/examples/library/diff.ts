import { appendFile } from 'node:fs/promises';
import { diff } from 'handbill';

await appendFile('campaigns/hello/people.csv', '07700 900013,Mei\n');

const { campaigns, unchanged } = await diff('HEAD');
for (const { name, recipients } of campaigns) console.log(name, recipients?.added, recipients?.addedExamples);
console.log(unchanged);

/* prints
hello 1 [ '+44••••••0013' ]
[ 'digest' ]
*/
