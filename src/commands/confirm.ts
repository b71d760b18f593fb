import { createInterface } from 'node:readline/promises';
import type { Estimate } from '../plan/estimate.ts';
import { number } from '../report/words.ts';
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';

/** What is about to be sent, for the one who is asked. */
export interface Confirmation {
  readonly campaign: string;
  readonly environment: string;
  readonly url: string;
  readonly occurrence: string;
  readonly recipients: number;
  /** Null where an unfinished run continues. */
  readonly estimate: Estimate | null;
}

/** Asks on the terminal, stating what will happen; without a terminal, or when `stopped` comes first, the answer is no. */
export async function confirm(question: Confirmation, context: CommandContext, stopped: AbortSignal): Promise<boolean> {
  context.err(`${stating(question)}\n`);
  if (!context.interactive) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While it reads a line the terminal makes no signals of its own: Ctrl-C comes here.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    // A terminal that is closed (Ctrl-D, or it is gone) never answers the question.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    const answer = await Promise.race([closed, terminal.question('Type "yes" to send: ', { signal: stopped })]);
    return answer.trim().toLowerCase() === 'yes';
  } catch (error) {
    if (stopped.aborted) return false;
    throw error;
  } finally {
    terminal.close();
  }
}

/** One line: campaign, environment, recipients, parts, cost. */
export function stating(question: Confirmation): string {
  const { campaign, occurrence, environment, url, recipients, estimate } = question;
  const parts = estimate === null ? '' : `, ${number(estimate.parts)} parts`;
  const money = estimate?.costMicros ?? null;
  const cost = money === null ? '' : `, ${(money / 1e6).toFixed(2)} ${estimate?.currency ?? ''}`.trimEnd();
  return safeLine(
    `Send ${campaign} (${occurrence}) to ${environment}, ${url}: ${number(recipients)} recipients${parts}${cost}.`,
  );
}
