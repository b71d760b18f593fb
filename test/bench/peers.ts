import process from 'node:process';
import { API_KEY, type Bench, type Figure, forgetRuns } from './bench.ts';
import type { Usage } from './measure.ts';
import { type List, writeKeptList, writePlainList } from './peers/lists.ts';
import { findPeers, type Peer } from './peers/programs.ts';
import { type ReceiverProcess, startReceiverProcess } from './peers/server.ts';
import { type Tally, tallyOf } from './peers/tally.ts';
import { writeProject } from './project.ts';

const TURNS = 2;
/** So many that the first two seconds, in which V8 still compiles, weigh little: speed does not matter for short lists. */
const MOST = 200_000;
/** Sent first and not counted: the receiver's code is not compiled yet, and the first program would pay for that. */
const WARM_UP = 5_000;

/** How many times the messages a second of each peer `send` has to reach. curl renders and records nothing. */
const GOALS: Readonly<Record<string, number>> = { aiohttp: 5, curl: 1, artillery: 10, newman: 10 };

/** One list sent once. */
export interface Sending {
  readonly tally: Tally;
  readonly usage: Usage;
  /** From the first request to the last answer, by the receiver's clock. */
  readonly tookMs: number;
  /** The part of that time in which the receiver was busy. */
  readonly receiverBusy: number;
}

/** Everything of one program: a list of E.164 numbers and a list as people keep them, each sent more than once. */
interface Measured {
  readonly peer: Peer;
  readonly plain: Sending[];
  readonly kept: Sending[];
}

/**
 * What people write by hand, on the same lists and with the same receiver, in turn: `peers/README.md` says how each was
 * written and what is compared.
 */
export async function measurePeers(bench: Bench): Promise<void> {
  const { folder } = bench;
  using receiver = await startReceiverProcess(API_KEY);
  await writeProject(folder, receiver.url);
  const ours = handbillOf(bench);
  const peers = [...(await findPeers({ folder, url: receiver.url, key: API_KEY }, say)), ours];
  const lists = await writeLists(bench, [WARM_UP, ...peers.map(({ most }) => most)]);
  const kept = await writeKeptList(folder, lists(WARM_UP));
  await sendOnce(ours, lists(WARM_UP), receiver);
  const all: readonly Measured[] = peers.map((peer) => ({ peer, plain: [], kept: [] }));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const one of all) {
      one.plain.push(await sendOnce(one.peer, lists(one.peer.most), receiver));
      one.kept.push(await sendOnce(one.peer, kept, receiver));
    }
  }
  for (const figure of all.flatMap(figuresOf)) bench.add(figure);
  for (const figure of comparisons(all)) bench.add(figure);
}

function handbillOf(bench: Bench): Peer {
  return {
    id: 'handbill',
    name: 'handbill',
    most: MOST,
    prepare: async () => forgetRuns(bench.folder),
    send: ({ name }) => bench.handbill(['send', name, '--env', 'local', '--yes']),
  };
}

/** Writes a list of each size, none longer than the bench is asked for, and returns how to find them. */
async function writeLists({ folder, sizes }: Bench, wanted: readonly number[]): Promise<(size: number) => List> {
  const lists = new Map<number, List>();
  const countOf = (size: number): number => Math.min(size, sizes.messages);
  for (const count of new Set(wanted.map(countOf))) lists.set(count, await writePlainList(folder, count));
  return (size) => lists.get(countOf(size)) as List;
}

async function sendOnce(peer: Peer, list: List, receiver: ReceiverProcess): Promise<Sending> {
  await peer.prepare?.(list);
  await receiver.take();
  const usage = await peer.send(list);
  const { receipts, tookMs, cpuUs } = await receiver.take();
  if (receipts.length === 0) throw new Error(`Nothing came from ${peer.name}.`);
  return { tally: tallyOf(list.expected, receipts), usage, tookMs, receiverBusy: cpuUs / 1000 / tookMs };
}

/** The fastest of several: whatever else a machine does only ever slows them. */
function fastest(sendings: readonly Sending[]): Sending {
  return sendings.reduce((best, one) => (one.tookMs < best.tookMs ? one : best));
}

function perSecond({ tally, tookMs }: Sending): number {
  return (tally.messages / tookMs) * 1000;
}

/** CPU time of a further message: what it takes to start is taken off, which a short list shows. */
export function cpuPerMessage({ plain, kept }: Pick<Measured, 'plain' | 'kept'>): number {
  const [long, short] = [leastCpu(plain), leastCpu(kept)];
  return (long.usage.cpuUs - short.usage.cpuUs) / (long.tally.messages - short.tally.messages);
}

function leastCpu(sendings: readonly Sending[]): Sending {
  return sendings.reduce((least, one) => (one.usage.cpuUs < least.usage.cpuUs ? one : least));
}

/** The most that went wrong in one of several. */
function worst(sendings: readonly Sending[], count: (tally: Tally) => number): number {
  return Math.max(...sendings.map(({ tally }) => count(tally)));
}

function figuresOf(measured: Measured): readonly Figure[] {
  const { peer, plain, kept } = measured;
  const id = peer.id === 'handbill' ? 'handbill' : `peer-${peer.id}`;
  const best = fastest(plain);
  const { messages } = best.tally;
  const what = `${peer.name}, ${messages} messages`;
  const wallMs = Math.min(...plain.map(({ usage }) => usage.wallMs));
  const peakBytes = Math.max(...plain.map(({ usage }) => usage.peakBytes));
  const asKept = `${peer.name}, ${kept[0]?.tally.people} people on a list as people keep them`;
  // The promise is handbill's: of the others the figures are only shown.
  const none = peer.id === 'handbill' ? { goal: { atMost: 0 } } : {};
  return [
    { id: `${id}-messages-per-second`, what, value: perSecond(best), unit: 'messages/s' },
    {
      id: `${id}-wall-messages-per-second`,
      what: `${what}, start to end of the process`,
      value: (messages / wallMs) * 1000,
      unit: 'messages/s',
    },
    { id: `${id}-cpu`, what: `${what}, without the start`, value: cpuPerMessage(measured), unit: 'us CPU per message' },
    { id: `${id}-peak`, what: `${what}, peak memory`, value: peakBytes / 1e6, unit: 'MB' },
    { id: `${id}-receiver-busy`, what: `${what}, receiver busy`, value: best.receiverBusy * 100, unit: '%' },
    {
      id: `${id}-not-once`,
      what: `${what}, not exactly one message at their number`,
      value: worst(plain, ({ people, once }) => people - once),
      unit: 'people',
      ...none,
    },
    {
      id: `${id}-kept-wrong-numbers`,
      what: `${asKept}, to a wrong number`,
      ...countOf(worst(kept, (tally) => tally.wrongNumbers)),
      ...none,
    },
    {
      id: `${id}-kept-twice`,
      what: `${asKept}, to somebody once more`,
      ...countOf(worst(kept, (tally) => tally.twice)),
      ...none,
    },
    {
      id: `${id}-kept-missed`,
      what: `${asKept}, not reached`,
      value: worst(kept, (tally) => tally.missed),
      unit: 'people',
      ...none,
    },
    {
      id: `${id}-wrong-texts`,
      what: `${peer.name}, another text than the template's`,
      ...countOf(worst([...plain, ...kept], (tally) => tally.wrongTexts)),
      ...none,
    },
  ];
}

function countOf(messages: number): Pick<Figure, 'value' | 'unit'> {
  return { value: messages, unit: 'messages' };
}

/** `send` against each of the others. */
function comparisons(all: readonly Measured[]): readonly Figure[] {
  const ours = all.find(({ peer }) => peer.id === 'handbill');
  if (ours === undefined) return [];
  return all
    .filter((one) => one !== ours)
    .flatMap((theirs) => {
      const { id, name } = theirs.peer;
      const atLeast = GOALS[id];
      const what = `send against ${name}`;
      return [
        {
          id: `send-against-${id}`,
          what: `${what}, messages/s`,
          value: perSecond(fastest(ours.plain)) / perSecond(fastest(theirs.plain)),
          unit: 'times',
          ...(atLeast === undefined ? {} : { goal: { atLeast } }),
        },
        {
          id: `send-against-${id}-cpu`,
          what: `${what}, CPU of theirs over ours`,
          value: cpuPerMessage(theirs) / cpuPerMessage(ours),
          unit: 'times',
        },
      ];
    });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
