import { findProject } from '../campaign/place.ts';
import { readProject } from '../campaign/project.ts';
import { asError, type Diagnostic, HandbillError } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { TIMERS, type Timers } from '../send/timers.ts';
import { fetchReports } from './fetch-reports.ts';
import { addressTest } from './project.ts';
import type { ListenNeeds, SendListener } from './send-listen.ts';
import { LISTEN_FOR_MS, type SendListenOptions } from './send-options.ts';

const EVERY_MS = 30_000;

/**
 * As `prepareListening`, where nothing is received: asks the API again and again while a start goes on, so that its
 * gates, its winner and its end see what recipients did.
 */
export async function prepareFetching(
  listening: SendListenOptions,
  {
    plan,
    env,
    now,
    timers = TIMERS,
    onNotice,
  }: ListenNeeds & {
    readonly timers?: Pick<Timers, 'sleep'> | undefined;
    readonly onNotice: (notice: Diagnostic) => void;
  },
) {
  const { environment } = plan;
  const { project } = plan.campaign;
  const reading = readProject(findProject(project.root), { cwd: project.root, ledger: project.ledger });
  const isAddress = addressTest(reading);
  return async ({ events: store }: Ledger): Promise<SendListener> => {
    let lastMs: number | null = null;
    const stopping = new AbortController();
    const facts = { environment: environment.name, ...project.webhook.replies, isAddress };
    const context = { ledger: { events: store }, reading, environment, env, now, signal: stopping.signal, timers };
    const fetchOnce = () =>
      fetchReports(context, (events, source, page) => {
        const recorded = store.record(events, {
          ...facts,
          nowMs: now(),
          source,
          ...(page === undefined ? {} : { page }),
        });
        if (recorded.reports + recorded.replies > 0) lastMs = TIMERS.monotonicMs();
        if (page !== undefined) listening.onRecorded?.(recorded);
        return recorded;
      }).catch((error: unknown) => {
        if (error instanceof HandbillError) return error.diagnostics;
        throw error;
      });
    const work = (async () => {
      while (!stopping.signal.aborted) {
        for (const one of await fetchOnce()) if (!stopping.signal.aborted) onNotice(one);
        await timers.sleep(EVERY_MS, stopping.signal);
      }
    })();
    let failure: Error | null = null;
    work.catch((error: unknown) => {
      failure = asError(error);
    });
    return {
      reporters: {
        lastEventMs: () => lastMs,
        isDone: null,
        forMs: listening.forMs ?? LISTEN_FOR_MS,
        failure: () => failure,
      },
      async [Symbol.asyncDispose]() {
        stopping.abort();
        await work.catch(() => undefined);
      },
    };
  };
}
