import type { Row } from '../model.ts';
import type { SecondLook } from '../recipients/duplicates.ts';
import { type ListDigest, openList } from '../recipients/read.ts';
import { isInvalidRow } from '../recipients/recipient.ts';
import type { Plan } from './plan.ts';
import type { Stages } from './stages.ts';

const NOTHING: readonly never[] = [];

/**
 * Hands the keys of a whole list to `look`, because a key was met of which only the list can say whether it is new. It
 * yields an empty batch for each piece that was read, so that whoever takes the decisions can stop meanwhile.
 *
 * @param from the row of that key
 * @returns the digest of the bytes that were looked at: the decisions are worth nothing if theirs is another
 * @throws HandbillError (exit 2) where the list cannot be read, or changes between the two times that it is
 */
export async function* lookAgain(
  { campaign, stages }: Plan,
  from: number,
  look: SecondLook,
): AsyncGenerator<readonly never[], ListDigest> {
  const ahead = await openList(campaign.recipients);
  for await (const rows of ahead.rows()) {
    for (const row of rows) if (row.row >= from) give(row, stages, look.ahead);
    yield NOTHING;
  }
  const digest = ahead.digest();
  const behind = await openList(campaign.recipients, { expected: digest });
  for await (const rows of behind.rows()) {
    for (const row of rows) if (row.row < from) give(row, stages, look.behind);
    yield NOTHING;
    if ((rows.at(-1)?.row ?? 0) >= from) break;
  }
  look.done();
  return digest;
}

/** The key by which a decision about this row asks for duplicates; none where it is decided before that. */
function give(row: Row, { segment, recipient }: Stages, take: (key: string) => void): void {
  if (segment !== null && row.values !== null && segment.judge(row.values) === 'out') return;
  const found = recipient(row);
  if (!isInvalidRow(found)) take(found.key);
}
