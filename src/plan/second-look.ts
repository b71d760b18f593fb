import type { Recipient, Row } from '../model.ts';
import { createDuplicates, type Duplicates, type SecondLook } from '../recipients/duplicates.ts';
import type { KeyHash } from '../recipients/key-hash.ts';
import { type ListDigest, openList } from '../recipients/read.ts';
import { isInvalidRow } from '../recipients/recipient.ts';
import type { Plan } from './plan.ts';
import type { Stages } from './stages.ts';

const NOTHING: readonly never[] = [];

/** Finds who is named more than once in the list of a plan. */
export function duplicatesIn({ campaign, stages }: Plan, hashOf?: KeyHash): Duplicates {
  const byAddress = campaign.recipients.key.length > 0;
  return createDuplicates({ byAddress, used: stages.used, ...(hashOf === undefined ? {} : { hashOf }) });
}

/**
 * Hands the recipients of a whole list to `look`, because only the list can say whether a key or an address is new. It
 * yields an empty batch for each piece that was read, so that the consumer of the decisions can stop meanwhile.
 *
 * @param from the row at which that was asked
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

/** The recipient that a decision about this row compares with others; none where it is decided before that. */
function give(row: Row, { segment, recipient }: Stages, take: (recipient: Recipient) => void): void {
  if (segment !== null && row.values !== null && segment.judge(row.values) === 'out') return;
  const found = recipient(row);
  if (!isInvalidRow(found)) take(found);
}
