import type { Asked, FormName } from '../oracle/forms.ts';
import type { Said } from '../oracle/receipts.ts';

/** What the server of these proofs does with a request that it has received completely. */
export type Conduct =
  | 'accept'
  /** 429 the first time, then 202; the client may not call it a doubt when it is killed while it waits. */
  | 'busy'
  /** 429 for longer than one start tries, so that a later start has to take the recipient up again. */
  | 'busy-for-long'
  | 'refuse'
  | 'fail'
  | 'reset'
  | 'close'
  /** Never answers: the time limit of the client ends it. */
  | 'silence'
  /** 202 and half of the body, then a reset. */
  | 'half'
  /** 413, of a request with several recipients. */
  | 'too-large'
  /** 422: the recipient, or one of several, cannot receive the channel. */
  | 'unsupported'
  /** Of an API with a word for each recipient: these, of the first of them. */
  | 'say-refused'
  | 'say-opted-out'
  | 'say-unclear'
  /** The first time; then they are taken. */
  | 'say-busy'
  | 'say-account';

/** How the server is to behave for one scene; it is in the path of its base URL. */
export interface Profile {
  readonly latencyMs: number;
  /** Thousandths of the recipients whose requests meet a fault. */
  readonly faults: number;
  /** The number of the request, over the whole scene, that is answered 429; 0 for none. */
  readonly busyNumber: number;
  /** Thousandths of the recipients who cannot receive RCS; default: none. */
  readonly unsupported?: number;
  /** Thousandths of the recipients of shared requests that a 2xx refuses, and as many that it leaves out; default: none. */
  readonly partial?: number;
  /** How it is spoken to; default: `messages-v2`. */
  readonly form?: FormName;
}

export function profileText({ latencyMs, faults, busyNumber, unsupported = 0, partial = 0, form }: Profile): string {
  return `l${latencyMs}-f${faults}-b${busyNumber}-u${unsupported}-p${partial}-${form ?? 'messages-v2'}`;
}

export function readProfile(text: string): Profile {
  const [, latencyMs, faults, busyNumber, unsupported, partial, form] =
    /^l([0-9]+)-f([0-9]+)-b([0-9]+)-u([0-9]+)-p([0-9]+)-([a-z0-9-]+)$/.exec(text) ?? [];
  return {
    latencyMs: Number(latencyMs),
    faults: Number(faults),
    busyNumber: Number(busyNumber),
    unsupported: Number(unsupported),
    partial: Number(partial),
    form: form as FormName,
  };
}

/** More of those that leave doubts, because doubts are what kills leave too. */
const FAULTS: readonly [Conduct, ...Conduct[]] = [
  'busy',
  'busy',
  'busy-for-long',
  'refuse',
  'refuse',
  'fail',
  'reset',
  'close',
  'half',
  'silence',
];

/** How many requests for a recipient are answered 429; a start makes three. */
const BUSY: Readonly<Partial<Record<Conduct, number>>> = {
  busy: 1,
  'busy-for-long': 7,
  'say-busy': 1,
  'say-account': 1,
};

/** Of an API whose file has rules for its answers. */
const RULED: readonly Conduct[] = [
  ...FAULTS.filter((one) => one !== 'refuse'),
  ...(['say-refused', 'say-refused', 'say-unclear', 'say-unclear', 'say-busy', 'say-account'] as const),
];

/** What a request meets: the same for the same first recipient in the same scene, whatever other recipients there are. */
export function conductOf(profile: Profile, scene: string, request: Request): Conduct {
  if (request.number === profile.busyNumber) return 'busy';
  const [reference = ''] = request.references;
  const mixed = hash(`${scene} ${reference}`);
  if (mixed % 1000 < profile.faults) {
    const { form = 'messages-v2' } = profile;
    const faults = form === 'messages-v2' ? FAULTS : form === 'twilio' ? [...RULED, 'say-opted-out' as const] : RULED;
    const conduct = faults[Math.floor(mixed / 1000) % faults.length] ?? 'accept';
    return request.earlier >= (BUSY[conduct] ?? Number.POSITIVE_INFINITY) ? 'accept' : conduct;
  }
  const several = request.references.length > 1;
  if (several && request.references.length > 2 && mixed % 5 === 0) return 'too-large';
  const cannot = request.references.some((one) => isUnsupported(profile, scene, one, request.channel));
  // An answer about several may also say for each of them what it is.
  return cannot && (!several || mixed % 2 === 0) ? 'unsupported' : 'accept';
}

/** What an answer says of each recipient; null: the status says it all, and an empty body. */
export function wordsOf(profile: Profile, scene: string, request: Request, conduct: Conduct): readonly Said[] | null {
  const usual = request.references.map((one) => saidOf(profile, scene, one, request));
  if (conduct === 'accept' || conduct === 'half') return usual;
  if (conduct === 'unsupported') return request.references.map(() => conduct);
  if (!conduct.startsWith('say-')) return null;
  const word = conduct.slice('say-'.length) as Said;
  // Nothing is done for one who must wait, or whose account is refused, and so for the others.
  return word === 'busy' || word === 'account' ? usual.map(() => word) : [word, ...usual.slice(1)];
}

/** What an answer that takes a request says of one of its recipients. */
function saidOf(profile: Profile, scene: string, reference: string, { channel, references }: Request): Said {
  if (isUnsupported(profile, scene, reference, channel)) return 'unsupported';
  if (references.length < 2) return 'taken';
  const { partial = 0 } = profile;
  const drawn = hash(`${scene} said ${reference}`) % 1000;
  return drawn < partial ? 'refused' : drawn < 2 * partial ? 'unclear' : 'taken';
}

function isUnsupported(
  { unsupported = 0 }: Profile,
  scene: string,
  reference: string,
  channel: Asked['channel'],
): boolean {
  return channel === 'rcs' && hash(`${scene} channel ${reference}`) % 1000 < unsupported;
}

export interface Request extends Pick<Asked, 'channel' | 'references'> {
  /** Counts the requests of the scene from 1. */
  readonly number: number;
  /** How many requests for the same first recipient came before. */
  readonly earlier: number;
}

/** FNV-1a, mixed once more: its low digits alone are much alike for texts that differ in their last character. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}
