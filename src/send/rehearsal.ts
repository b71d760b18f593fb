import { DEFAULT_WIRE } from '../campaign/defaults.ts';
import { compilePointers } from '../http/answer.ts';
import type { Endpoint } from '../http/connect.ts';
import type { Attempt, ComparedSide } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { Api } from './api.ts';
import type { Timers } from './timers.ts';

/**
 * Takes the place of clock and API while `rehearse` plays the coming days: `due` and `send` decide and claim as ever, on
 * a copy of the ledger, and no connection is made. Neither keys nor git nor approvals are asked for.
 */
export interface RehearsedWorld {
  readonly timers: Timers;
  /** Absent: it is the project itself. */
  readonly side?: ComparedSide | undefined;
  /** No person pauses anything meanwhile. */
  readonly pauseLookMs: number;
  /** The API of one pass of a send. */
  readonly open: (plan: Plan) => Api;
}

/**
 * An API that takes every message at once: how long it needs is not known before it is asked.
 * @param onClose - once a pass needs it no longer
 */
export function openAccepting({ environment }: Plan, onClose: () => void): Api {
  const endpoint: Endpoint = {
    reserve: () => true,
    ready: async () => null,
    release: () => undefined,
    stopWaiting: () => undefined,
    post: async () => ACCEPTED,
    close: async () => undefined,
    abort: () => undefined,
    inFlight: 0,
    idle: 1,
  };
  const names = Object.keys(environment.secrets ?? {});
  return {
    endpoint,
    wire: WIRE,
    secrets: Object.fromEntries(names.map((name) => [name, name])),
    close: async () => onClose(),
  };
}

/** Without an id that the API would give: delivery reports are joined by the reference of the request. */
const WIRE = compilePointers({ ...DEFAULT_WIRE, response: { ...DEFAULT_WIRE.response, messageIdRequired: false } });

const ACCEPTED: Attempt = {
  phase: 'P4',
  status: 202,
  error: null,
  contentType: 'application/json',
  retryAfter: null,
  body: '{"status":"accepted"}',
  latencyMs: 0,
};
