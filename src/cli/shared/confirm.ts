import type { CommandContext } from '../../operations/context.ts';
import type { SendQuestion } from '../../operations/send-options.ts';
import { changedLines } from '../../operations/warnings.ts';
import { canaryText, costText, fallbackText, listPartsText } from '../../plan/estimate.ts';
import { forecastText } from '../../plan/forecast.ts';
import { countOf } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { askYes } from './prompt.ts';

/** Says first what will happen; without a terminal, or when `stopped` comes first, the answer is no. */
export async function confirm(
  question: SendQuestion,
  context: CommandContext,
  line: { stop(): void },
  stopped: AbortSignal,
): Promise<boolean> {
  line.stop();
  context.err(`${stating(question)}\n`);
  const { resends, allows } = question;
  for (const one of allows) context.err(`${safeLine(one)}\n`);
  if (resends.length > 0) {
    const second = `Of these, ${countOf(resends.length, 'recipient')} ${resends.length === 1 ? 'gets' : 'get'} a second message, at a corrected address:`;
    context.err([second, ...changedLines(resends, MOST_SHOWN)].map((line) => `${safeLine(line)}\n`).join('  '));
  }
  return askYes('Type "yes" to send', context, stopped);
}

/** The most recipients of a second message that are shown. */
const MOST_SHOWN = 50;

function stating(question: SendQuestion): string {
  const { campaign, occurrence, environment, url, recipients, estimate, canary } = question;
  const fallbacks = estimate === null ? null : fallbackText(estimate);
  const facts = estimate === null ? [] : [listPartsText(estimate), costText(estimate)];
  const said = [countOf(recipients, 'recipient'), ...facts, fallbacks && `fallbacks ${fallbacks}`]
    .filter(Boolean)
    .join(', ');
  const end = estimate === null ? null : forecastText(estimate);
  const finished = end === null ? '' : ` Finished: ${end}.`;
  const steps = canaryText(canary);
  const inSteps = steps === null ? '' : ` In steps: ${steps}.`;
  return safeLine(`Send ${campaign} (${occurrence}) to ${environment}, ${url}: ${said}.${inSteps}${finished}`);
}
