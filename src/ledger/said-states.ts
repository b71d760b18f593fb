import { DELIVERY_STATES, type DeliveryState } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import { lazily } from './lazily.ts';
import type { MessageIds } from './records.ts';

/** What reports say about many messages at once. */
export interface SaidStates {
  /**
   * The states that the reports about each message name, as bits by their place in `DELIVERY_STATES`; 0: there are no
   * reports. Give it some hundred at a time: that costs a quarter of asking for each of them.
   */
  statesOf(messages: readonly MessageIds[]): Uint16Array;
  /** Whether any report names a reference of ours: where none does, nobody need work them out. */
  hasReferences(): boolean;
  /** Keeps 16 MB of the ledger in memory from here on, for whoever looks up or holds many thousand events. */
  expectMany(): void;
  /** Another number whenever somebody else has written to the ledger since. */
  version(): number;
}

export function saidStates(connection: Connection): SaidStates {
  const expectMany = (): void => connection.expectMany();
  const query = lazily((sql) => {
    expectMany();
    return connection.query(sql);
  });

  const add = (
    sql: string,
    ids: readonly (string | null)[],
    references: readonly (string | null)[],
    said: Uint16Array,
  ): void => {
    if (ids.every((id) => id === null)) return;
    for (const [place, state, named] of query(sql).all(JSON.stringify(ids))) {
      const at = Number(place);
      if (isOurs(named, references[at] ?? null)) said[at] = (said[at] ?? 0) | (BITS.get(state as DeliveryState) ?? 0);
    }
  };

  return {
    statesOf(messages) {
      const said = new Uint16Array(messages.length);
      const ids = messages.map(({ messageId }) => messageId);
      const references = messages.map(({ reference }) => reference);
      add(BY_MESSAGE, ids, references, said);
      add(BY_REFERENCE, references, references, said);
      return said;
    },

    hasReferences: () => query(HAS_REFERENCES).get() !== undefined,

    expectMany,

    version: () => connection.version(),
  };
}

const BITS: ReadonlyMap<DeliveryState, number> = new Map(DELIVERY_STATES.map((state, i) => [state, 1 << i]));

/**
 * Whether a report that was found by the id of the API is about this message: where several recipients share a request,
 * the API may give all of them one id, and a report that names the reference of one is about that one alone.
 */
export function isOurs(named: Value | undefined, reference: string | null): boolean {
  return named === null || named === undefined || reference === null || named === reference;
}

// One message can be in a batch several times, under the same id.
const BY_MESSAGE = `SELECT asked.key, said.state, said.reference FROM json_each(?) AS asked
  CROSS JOIN delivery_reports AS said INDEXED BY delivery_reports_message ON said.message_id = asked.value`;

const BY_REFERENCE = `SELECT asked.key, said.state, said.reference FROM json_each(?) AS asked
  CROSS JOIN delivery_reports AS said INDEXED BY delivery_reports_reference ON said.reference = asked.value`;

const HAS_REFERENCES = `SELECT 1 FROM delivery_reports INDEXED BY delivery_reports_reference
  WHERE reference IS NOT NULL LIMIT 1`;
