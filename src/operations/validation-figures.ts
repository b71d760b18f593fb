import type { Estimate } from '../plan/estimate.ts';
import { countOf, number } from '../report/words.ts';

/** What a list comes to, in one line: recipients, who is sent to and who is not, parts. */
export function figuresOf({ rows, send, skipped, deferred, invalid, parts, encodings }: Estimate): string {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const deferredRows = Object.values(deferred).reduce((sum, count) => sum + count, 0);
  const skippedRows = Object.values(skipped).reduce((sum, count) => sum + count, 0);
  const texts = [countOf(rows, 'recipient'), `${number(send)} to send`];
  if (deferredRows > 0) texts.push(`${number(deferredRows)} deferred`);
  if (skippedRows > 0) texts.push(`${number(skippedRows)} skipped (${reasons.join(', ')})`);
  if (invalid > 0) texts.push(`${number(invalid)} invalid`);
  // Only an SMS has parts.
  if (Object.keys(encodings).length > 0) texts.push(countOf(parts, 'part'));
  return texts.join(', ');
}
