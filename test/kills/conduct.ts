/** What the server of these proofs does with a request that it has received completely. */
export type Conduct =
  | 'accept'
  /** 429 the first time, then 202; the client may not call it a doubt when it is killed while it waits. */
  | 'busy'
  /** 429 every time. */
  | 'always-busy'
  | 'refuse'
  | 'fail'
  | 'reset'
  | 'close'
  /** Never answers: the time limit of the client ends it. */
  | 'silence'
  /** 202 and half of the body, then a reset. */
  | 'half';

/** How the server is to behave for one scene; it stands in the path of its base URL. */
export interface Profile {
  readonly latencyMs: number;
  /** Thousandths of the recipients whose requests meet a fault. */
  readonly faults: number;
  /** The number of the request, over the whole scene, that is answered 429; 0 for none. */
  readonly busyNumber: number;
}

export function profileText({ latencyMs, faults, busyNumber }: Profile): string {
  return `l${latencyMs}-f${faults}-b${busyNumber}`;
}

export function readProfile(text: string): Profile {
  const [, latencyMs, faults, busyNumber] = /^l([0-9]+)-f([0-9]+)-b([0-9]+)$/.exec(text) ?? [];
  return { latencyMs: Number(latencyMs), faults: Number(faults), busyNumber: Number(busyNumber) };
}

/** More of those that leave doubts, because doubts are what kills leave too. */
const FAULTS: readonly [Conduct, ...Conduct[]] = [
  'busy',
  'busy',
  'always-busy',
  'refuse',
  'refuse',
  'fail',
  'reset',
  'close',
  'half',
  'silence',
];

/** What a recipient's request meets: the same for the same recipient in the same scene, whoever else is sent to. */
export function conductOf(profile: Profile, scene: string, reference: string, receipt: Receipt): Conduct {
  if (receipt.number === profile.busyNumber) return 'busy';
  const mixed = hash(`${scene} ${reference}`);
  if (mixed % 1000 >= profile.faults) return 'accept';
  const conduct = FAULTS[Math.floor(mixed / 1000) % FAULTS.length] ?? 'accept';
  return conduct === 'busy' && receipt.earlier > 0 ? 'accept' : conduct;
}

export interface Receipt {
  /** Counts the requests of the scene from 1. */
  readonly number: number;
  /** How many requests for the same recipient came before. */
  readonly earlier: number;
}

/** FNV-1a, mixed once more: its low digits alone are much alike for texts that differ in their last character. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}
