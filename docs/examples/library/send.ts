import { EXIT, HandbillError, send } from 'handbill';

const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

const sending = send('hello', { signal: stopping.signal, concurrency: 8 });
try {
  for await (const { posted, toDo } of sending) process.stderr.write(`${posted} of ${toDo}\n`);
  const { report, exit } = await sending;
  console.log(report.campaign, report.state, report.totals);
  console.log(exit === EXIT.inDoubt);
} catch (error) {
  // Refused before any request: everything that is wrong, at once.
  if (!(error instanceof HandbillError)) throw error;
  for (const { code, message, hint } of error.diagnostics) console.error(code, message, hint);
  process.exitCode = error.exit;
}

/* prints
hello finished {
  recipients: 4,
  accepted: 2,
  rejected: 0,
  failed: 0,
  skipped: 1,
  deferred: 0,
  inDoubt: 1,
  pending: 0
}
true
*/
