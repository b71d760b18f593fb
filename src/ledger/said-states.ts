import { DELIVERY_STATES, type DeliveryState, type UnmatchedReason } from '../model.ts';
import type { Connection } from './connection.ts';
import { lazily } from './lazily.ts';
import type { SentMessage } from './records.ts';
import { mismatchOf } from './report-match.ts';

/** What reports say about many messages at once. */
export interface SaidStates {
  /**
   * The states that the reports about each message name, as bits by their place in `DELIVERY_STATES`; 0: there are no
   * reports. Give it some hundred at a time: that costs a quarter of asking for each of them.
   *
   * @param judged - told of each report that names one of them, by its number, and why it is not about that message
   */
  statesOf(messages: readonly SentMessage[], judged?: Judged): Uint16Array;
  /** Whether any report names a reference of ours: where none does, nobody need work them out. */
  hasReferences(): boolean;
  /** Keeps 16 MB of the ledger in memory from here on, for whoever looks up or holds many thousand events. */
  expectMany(): void;
  /** Another number whenever somebody else has written to the ledger since. */
  version(): number;
}

/** Null: it is about the message. */
export type Judged = (report: number, mismatch: UnmatchedReason | null) => void;

export function saidStates(connection: Connection): SaidStates {
  const expectMany = (): void => connection.expectMany();
  const query = lazily((sql) => {
    expectMany();
    return connection.query(sql);
  });

  const add = (
    sql: string,
    ids: readonly (string | null)[],
    messages: readonly SentMessage[],
    said: Uint16Array,
    judged: Judged | undefined,
  ): void => {
    if (ids.every((id) => id === null)) return;
    for (const [place, state, number, environment, reference, address, saidAt] of query(sql).all(JSON.stringify(ids))) {
      const at = Number(place);
      const message = messages[at];
      if (message === undefined) continue;
      const naming = {
        environment: String(environment),
        reference: reference as string | null,
        address: address as string | null,
        saidAtMs: Number(saidAt),
      };
      const mismatch = mismatchOf(naming, message);
      if (mismatch === null) said[at] = (said[at] ?? 0) | (BITS.get(state as DeliveryState) ?? 0);
      judged?.(Number(number), mismatch);
    }
  };

  return {
    statesOf(messages, judged) {
      const said = new Uint16Array(messages.length);
      const ids = messages.map(({ messageId }) => messageId);
      const references = messages.map(({ reference }) => reference);
      add(BY_MESSAGE, ids, messages, said, judged);
      add(BY_REFERENCE, references, messages, said, judged);
      return said;
    },

    hasReferences: () => query(HAS_REFERENCES).get() !== undefined,

    expectMany,

    version: () => connection.version(),
  };
}

const BITS: ReadonlyMap<DeliveryState, number> = new Map(DELIVERY_STATES.map((state, i) => [state, 1 << i]));

// One message can be in a batch several times, under the same id. No index is named: in an older ledger that is only
// read the reports are a view, and by this order alone SQLite takes the right one.
const BY_MESSAGE = `SELECT asked.key, said.state, said.number, said.environment, said.reference, said.address,
    coalesce(said.happened_at, said.received_at)
  FROM json_each(?) AS asked CROSS JOIN delivery_reports AS said ON said.message_id = asked.value`;

const BY_REFERENCE = `SELECT asked.key, said.state, said.number, said.environment, said.reference, said.address,
    coalesce(said.happened_at, said.received_at)
  FROM json_each(?) AS asked CROSS JOIN delivery_reports AS said ON said.reference = asked.value`;

const HAS_REFERENCES = 'SELECT 1 FROM delivery_reports WHERE reference IS NOT NULL LIMIT 1';
