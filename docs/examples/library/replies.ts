import { writeFile } from 'node:fs/promises';
import { exportReplies, listReplies, outcomes, reconcile, reviewReplies } from 'handbill';

// What a provider exports: reports and replies that no webhook brought.
const events: object[] = [{ from: '+447700900012', to: 'Riverside', text: "please don't stop", timestamp: Date.now() }];
for await (const { messageId } of outcomes('hello', { outcomes: ['accepted'] })) {
  if (messageId !== null) events.push({ messageId, status: 'delivered', timestamp: Date.now() });
}
await writeFile('events.json', JSON.stringify(events));
const { files, diagnostics } = await reconcile(['events.json']);
console.log(files[0]?.reports, files[0]?.replies, diagnostics);

const [reply] = await listReplies({ campaign: 'hello', meanings: ['review'] });
console.log(reply?.text, reply?.line);
const { suppressed } = await reviewReplies(reply === undefined ? [] : [reply.id], { as: 'opt-out', by: 'Jo' });
console.log(suppressed);

const { columns, replies } = await exportReplies('hello');
console.log(columns, replies.map(({ meaning, row }) => [meaning, row?.['name']]));

for await (const { line, delivery } of outcomes('hello', { deliveries: ['delivered', 'opted-out'] })) {
  console.log(line, delivery);
}

/* prints
2 1 []
please don't stop 3
[ '+447700900012' ]
[ 'msisdn', 'name' ] [ [ 'opt-out', 'Ravi' ] ]
2 delivered
3 opted-out
*/
