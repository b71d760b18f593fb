import type { Attributes } from '@opentelemetry/api';
import type { Attempt } from '../model.ts';
import type { Otel } from './otel.ts';
import { errorTypeOf, type RequestTarget } from './spans.ts';

/** What is counted and measured. The names are those of docs/observability.md. */
export interface Instruments {
  /** Messages that came to an outcome. */
  messages(count: number, what: MessageFacts): void;
  retries(count: number, what: Pick<MessageFacts, 'campaign' | 'environment' | 'reason'>): void;
  parts(count: number, what: Omit<MessageFacts, 'outcome' | 'reason'>): void;
  /** A request has begun. */
  began(target: RequestTarget): void;
  ended(target: RequestTarget, attempt: Attempt): void;
  /** Recipients of a run by what came back about each, as they are now. */
  deliveries(count: number, what: { campaign: string; environment: string; state: string }): void;
  /** Delivery reports that came in. */
  reports(count: number, state: string): void;
  replies(count: number, meaning: string): void;
  optOuts(count: number): void;
}

export interface MessageFacts {
  readonly outcome: string;
  readonly reason: string | null;
  readonly channel: string;
  readonly campaign: string;
  readonly environment: string;
}

/** In seconds, as the semantic conventions advise. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30];

/** Every instrument, with its description: the documentation is compared with it. */
export const INSTRUMENTS = {
  'handbill.messages': 'Messages with an outcome; each channel step counts separately.',
  'handbill.retries': 'Attempts after which a message is tried again.',
  'handbill.message.parts': 'Parts of the messages that the API took, or may have taken.',
  'http.client.request.duration': 'How long requests to the API took.',
  'http.client.active_requests': 'Requests in flight.',
  'handbill.deliveries': 'Recipients of a run by delivery state.',
  'handbill.delivery_reports': 'Delivery reports that came in, those that were known already included.',
  'handbill.replies': 'Replies that came in, those that were known already included.',
  'handbill.opt_outs': 'Addresses that were suppressed because of an opt-out.',
} as const;

export function createInstruments({ meter }: Pick<Otel, 'meter'>): Instruments {
  const describe = (name: keyof typeof INSTRUMENTS, unit: string) => ({ unit, description: INSTRUMENTS[name] });
  const counter = (name: keyof typeof INSTRUMENTS, unit: string) => meter.createCounter(name, describe(name, unit));
  const messages = counter('handbill.messages', '{message}');
  const retries = counter('handbill.retries', '{attempt}');
  const parts = counter('handbill.message.parts', '{part}');
  const reports = counter('handbill.delivery_reports', '{report}');
  const replies = counter('handbill.replies', '{reply}');
  const optOuts = counter('handbill.opt_outs', '{address}');
  const deliveries = meter.createGauge('handbill.deliveries', describe('handbill.deliveries', '{recipient}'));
  const duration = meter.createHistogram('http.client.request.duration', {
    ...describe('http.client.request.duration', 's'),
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  const active = meter.createUpDownCounter(
    'http.client.active_requests',
    describe('http.client.active_requests', '{request}'),
  );
  return {
    messages: (count, { outcome, reason, ...where }) =>
      messages.add(count, { ...placeOf(where), 'handbill.outcome': outcome, ...reasonOf(reason) }),
    retries: (count, { reason, campaign, environment }) =>
      retries.add(count, {
        'handbill.campaign': campaign,
        'handbill.environment': environment,
        ...reasonOf(reason),
      }),
    parts: (count, where) => parts.add(count, placeOf(where)),
    began: (target) => active.add(1, serverOf(target)),
    ended(target, attempt) {
      active.add(-1, serverOf(target));
      const error = errorTypeOf(attempt);
      duration.record(attempt.latencyMs / 1_000, {
        ...serverOf(target),
        ...(attempt.status === null ? {} : { 'http.response.status_code': attempt.status }),
        ...(error === null ? {} : { 'error.type': error }),
      });
    },
    deliveries: (count, { campaign, environment, state }) =>
      deliveries.record(count, {
        'handbill.campaign': campaign,
        'handbill.environment': environment,
        'handbill.delivery': state,
      }),
    reports: (count, state) => reports.add(count, { 'handbill.delivery': state }),
    replies: (count, meaning) => replies.add(count, { 'handbill.meaning': meaning }),
    optOuts: (count) => optOuts.add(count),
  };
}

function placeOf({ channel, campaign, environment }: Omit<MessageFacts, 'outcome' | 'reason'>): Attributes {
  return { 'handbill.channel': channel, 'handbill.campaign': campaign, 'handbill.environment': environment };
}

function reasonOf(reason: string | null): Attributes {
  return reason === null ? {} : { 'handbill.reason': reason };
}

function serverOf({ address, port }: RequestTarget): Attributes {
  return { 'http.request.method': 'POST', 'server.address': address, 'server.port': port };
}
