import { accepted, type Behaviour, doubtOf, type Ending, pending, rejected } from './behaviour.ts';

const BODIES = {
  JSON: ['{"id":"{ID}","message":"words"}', ''],
  HTML: ['<!doctype html><title>Hello</title>', 'content-type: text/html; charset=utf-8'],
  empty: ['', ''],
} as const;
export type BodyKind = keyof typeof BODIES;
export const BODY_KINDS = Object.keys(BODIES) as readonly BodyKind[];

/** Every status that a server can say with three digits and that is an answer, and the two that no server should say. */
export const EVERY_STATUS: readonly number[] = [...Array.from({ length: 400 }, (_, i) => 200 + i), 600, 999];

interface Rule {
  readonly row: string;
  readonly statuses: readonly number[] | { readonly from: number; readonly to: number };
  readonly ending: (status: number) => Ending;
  readonly asFirstAnswer?: (status: number) => Ending;
}

/**
 * What the failure model says of each status without a 2, written from its rows by hand and looked through from above: the
 * first rule that names a status is its rule.
 */
const RULES: readonly Rule[] = [
  { row: 'E1', statuses: [307, 308], ending: (n) => pending(n, 'wrong-address', 'wrong-address') },
  {
    row: 'E2',
    statuses: { from: 300, to: 399 },
    ending: (n) => doubtOf(n, 'redirect', 'wrong-address'),
  },
  {
    row: 'F2',
    statuses: [401, 402, 403, 407],
    ending: (n) => pending(n, 'not-authorised', 'not-authorised'),
  },
  { row: 'F3', statuses: [408, 499], ending: (n) => doubtOf(n) },
  { row: 'F4', statuses: [425], ending: (n) => pending(n, 'rate-limited') },
  { row: 'F6', statuses: [429], ending: (n) => pending(n, 'rate-limited') },
  {
    row: 'F1',
    statuses: [404, 405, 410],
    ending: (n) => rejected(n),
    asFirstAnswer: (n) => pending(n, 'wrong-address', 'wrong-address'),
  },
  { row: 'F1', statuses: { from: 400, to: 499 }, ending: (n) => rejected(n) },
  { row: 'G3', statuses: [501, 505], ending: (n) => pending(n, 'wrong-address', 'wrong-address') },
  { row: 'G4', statuses: [511], ending: (n) => doubtOf(n, 'status', 'not-the-api') },
  { row: 'G2', statuses: [503], ending: (n) => doubtOf(n) },
  { row: 'G1', statuses: { from: 500, to: 599 }, ending: (n) => doubtOf(n) },
  { row: 'G5', statuses: [600, 999], ending: (n) => doubtOf(n) },
];

/** Statuses that the failure model names, and one at each end of a class. */
export const NAMED_STATUSES: readonly number[] = [
  ...[200, 201, 202, 204, 206, 226, 299],
  ...[300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 399],
  ...[
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425,
  ],
  ...[426, 428, 429, 431, 451, 499],
  ...[500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 599, 600, 999],
];

/** These statuses have no body (RFC 9110, 15.3.5 and 15.4.5): what comes behind the headers is not theirs. */
const WITHOUT_BODY: readonly number[] = [204, 304];

/** One status with one kind of body, as a behaviour of the fault server. */
export function statusBehaviour(status: number, kind: BodyKind): Behaviour {
  const rule = ruleOf(status, kind);
  const [body, headers] = BODIES[kind];
  return {
    name: `${status} ${kind}`,
    rows: [rule.row],
    at: 'request',
    plays: [{ answer: headers === '' ? [status, body] : [status, body, headers] }],
    status,
    givesId: kind === 'JSON' && !WITHOUT_BODY.includes(status),
    expected: [rule.ending(status)],
    ...(rule.asFirstAnswer === undefined ? {} : { asFirstAnswer: [rule.asFirstAnswer(status)] }),
  };
}

function ruleOf(status: number, kind: BodyKind): Rule {
  if (status < 300) {
    const bare = WITHOUT_BODY.includes(status);
    if (kind !== 'HTML' || bare) return { row: 'D1', statuses: [status], ending: accepted };
    return { row: 'D2', statuses: [status], ending: (n) => doubtOf(n, 'unrecognised', 'not-the-api') };
  }
  const rule = RULES.find(({ statuses }) =>
    'from' in statuses ? status >= statuses.from && status <= statuses.to : statuses.includes(status),
  );
  if (rule === undefined) throw new Error(`the failure model says nothing of status ${status}`);
  return rule;
}
