import { writeFile } from 'node:fs/promises';
import {
  addSuppressions,
  checkSuppressions,
  exportSuppressions,
  importSuppressions,
  listSuppressions,
  person,
  removeSuppressions,
} from 'handbill';

console.log(await addSuppressions(['07700 900031', 'jane@example.com'], { reason: 'asked by phone' }));
console.log(await removeSuppressions(['jane@example.com']));

await writeFile('optouts.csv', 'msisdn,reason\n07700 900032,letter\n');
console.log(await importSuppressions('optouts.csv'));

for await (const { address, reason, until } of listSuppressions()) console.log(address, reason, until);
for await (const line of exportSuppressions()) console.log(line.trim());

const { addresses, problems } = await checkSuppressions();
console.log(addresses, problems);

const { suppressed, messages } = await person('07700 900032');
console.log(suppressed, messages.length);

/* prints
{ added: 2, known: 0 }
{ removed: 1, absent: 0 }
{ file: 'optouts.csv', entries: 1, added: 1 }
+447700900031 asked by phone null
+447700900032 letter null
msisdn,email,contact,hash,reason,until,topic
"'+447700900031","","","","asked by phone","",""
"'+447700900032","","","","letter","",""
2 []
true 0
*/
