import type { Report, WinnerDecision, WinnerMetric } from '../model.ts';
import { number, percent } from './words.ts';

/** Who won a test and by what, in a sentence; empty where there is none, or it is not over. */
export function winnerWords({ winner }: Pick<Report, 'winner'>): string {
  if (winner === undefined) return '';
  const { variant, by, why } = winner;
  if (variant === null) return `No variant won the test: ${reasonOf(winner)}.`;
  if (by === null) return `"${variant}" won the test: chosen by hand.`;
  const figures = sharesOf(winner);
  return why === 'tie'
    ? `"${variant}" won the test as the first of equals: ${figures}.`
    : `"${variant}" won the test: ${figures}.`;
}

function reasonOf(winner: WinnerDecision): string {
  if (winner.why === 'tie') return `the best are equal: ${sharesOf(winner)}`;
  const asked = winner.minimum === 1 ? '1 is' : `${number(winner.minimum)} are`;
  return `${asked} asked for of each variant, and there were too few: ${sharesOf(winner)}`;
}

/** `"A" 8 of 198 delivered messages replied to (4.0 %), "B" ...`, in the order of the campaign. */
function sharesOf({ by, shares }: WinnerDecision): string {
  const [whole, part] = WORDS[by ?? 'accepted'];
  return shares
    .map((share, i) => {
      const of = `${number(share.part)} of ${number(share.whole)}${i === 0 ? ` ${whole}` : ''}`;
      return `"${share.name}" ${of}${i === 0 ? ` ${part}` : ''} (${percent(share.part, share.whole)})`;
    })
    .join(', ');
}

const WORDS: Readonly<Record<WinnerMetric, readonly [whole: string, part: string]>> = {
  accepted: ['recipients', 'accepted'],
  delivered: ['accepted messages', 'delivered'],
  read: ['delivered messages', 'read'],
  replied: ['delivered messages', 'replied to'],
  optedOut: ['delivered messages', 'opted out after'],
};
