import { listen } from 'handbill';

const stopping = new AbortController();
const listening = await listen({
  port: 0,
  env: { ...process.env, HANDBILL_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  signal: stopping.signal,
  onRecorded: ({ reports, replies }) => console.log(reports, replies),
  log: (line) => process.stderr.write(`${line}\n`),
});
console.log(new URL(listening.url).pathname);

stopping.abort();
await listening.closed;

/* prints
/webhooks
*/
