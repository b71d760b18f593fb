import { END_TABLE, ENDS } from '../../report/ends.ts';
import { REASON_WORDS } from '../../report/reason-words.ts';
import { DELIVERY_WORDS, OUTCOME_WORDS, STATE_WORDS } from '../../report/words.ts';

/** A sentence for each thing that reports call by this word: an outcome, a reason, a state, a delivery. */
export function meaningsOf(word: string): readonly string[] {
  const of = (words: Readonly<Record<string, string>>): string | undefined =>
    Object.hasOwn(words, word) ? words[word] : undefined;
  const [outcome, state, delivery] = [of(OUTCOME_WORDS), of(STATE_WORDS), of(DELIVERY_WORDS)];
  const reason = Object.hasOwn(REASON_WORDS, word) ? REASON_WORDS[word] : undefined;
  const end = ENDS.find((one) => END_TABLE[one].words === word || END_TABLE[one].option === word);
  return [
    ...(outcome === undefined ? [] : [`An [outcome](${word === 'in-doubt' ? 'doubt' : 'outcomes'}.md): ${outcome}.`]),
    ...(reason === undefined ? [] : [`A [reason](outcomes.md): ${reason.means}. ${reason.advice}`]),
    ...(state === undefined ? [] : [`The state of a [run](report.md): it ${state}.`]),
    ...(delivery === undefined ? [] : [`A [delivery report](deliveries.md): ${delivery}.`]),
    ...(end === undefined || END_TABLE[end].means === '' ? [] : [`In a [report](report.md): ${END_TABLE[end].means}.`]),
  ];
}
