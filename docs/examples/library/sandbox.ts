import { startSandbox } from 'handbill';

await using sandbox = await startSandbox({ apiKey: 'test-key' });
const answer = await fetch(`${sandbox.url}/v2/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': 'test-key' },
  body: JSON.stringify({
    name: 'hello',
    channel: 'SMS',
    from: 'Riverside',
    body: { text: 'Hello' },
    recipients: [{ msisdn: '+447700900011' }],
  }),
});
console.log(answer.status, sandbox.received);

/* prints
202 1
*/
