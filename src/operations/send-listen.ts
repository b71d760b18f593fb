import { randomBytes } from 'node:crypto';
import { DEFAULTS } from '../campaign/defaults.ts';
import { findProject } from '../campaign/place.ts';
import { readProject } from '../campaign/project.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isSandbox, type Plan } from '../plan/plan.ts';
import { type EmbeddedSandbox, startEmbedded } from '../send/api.ts';
import type { Reporters } from '../send/rounds.ts';
import { TIMERS } from '../send/timers.ts';
import { startReceiver } from '../webhook/receive.ts';
import { createIdleJoiner, recorderOf } from './listen.ts';
import { addressTest, interpreterOf } from './project.ts';
import { LISTEN_FOR_MS, type SendListenOptions } from './send-options.ts';
import { readSenders } from './senders.ts';

/** The sandbox of a start signs as Standard Webhooks says. */
const OWN = { scheme: { kind: 'standard', toleranceMs: DEFAULTS.webhookToleranceMs } } as const;

export interface ListenNeeds {
  readonly plan: Plan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

export interface SendListener extends AsyncDisposable {
  readonly reporters: Reporters;
  /** The sandbox that reports to it; absent for every other environment. */
  readonly sandbox?: () => Promise<EmbeddedSandbox>;
}

/**
 * Reads the settings before anything that takes long; the returned function begins to listen. Throws exit 2 if
 * handbill.yaml does not have the settings, or a secret is missing; the returned function, if the port is taken.
 */
export async function prepareListening(listening: SendListenOptions, { plan, env, now }: ListenNeeds) {
  const { project } = plan.campaign;
  const reading = readProject(findProject(project.root), { cwd: project.root, ledger: project.ledger });
  const { webhook } = reading.project;
  const { name } = plan.environment;
  const { interpret } = interpreterOf(reading, name);
  // For the sandbox of this process: no other process knows the secret.
  const ownSecret = isSandbox(plan) ? `whsec_${randomBytes(32).toString('base64')}` : null;
  const { senders, alsoIn, diagnostics } =
    ownSecret === null
      ? await readSenders(reading, name, env)
      : { senders: new Map([[name, { ...OWN, secrets: [ownSecret], interpret }]]), alsoIn: () => [], diagnostics: [] };
  const { log } = listening;
  return async (ledger: Ledger): Promise<SendListener> => {
    let lastMs: number | null = null;
    let failure: Error | null = null;
    const facts = { now, ...webhook.replies, log: log ?? (() => undefined), isAddress: addressTest(reading), alsoIn };
    // A STOP may be about another address than the one that it comes from: that is seen before the next claims too.
    const joiner = createIdleJoiner(ledger, { ...facts, onSuppressed: () => undefined });
    const recorder = recorderOf(ledger, {
      ...facts,
      onRecorded(recorded) {
        lastMs = TIMERS.monotonicMs();
        if (recorded.replies > 0) joiner.noticed();
        listening.onRecorded?.(recorded);
      },
    });
    void recorder.failed.then((error) => {
      failure = error;
    });
    const running = await startReceiver({
      path: webhook.path,
      senders,
      environment: name,
      record: recorder.record,
      ...(ownSecret === null ? {} : { port: 0 }),
      ...(listening.port === undefined ? {} : { port: listening.port }),
      ...(listening.host === undefined ? {} : { host: listening.host }),
      now,
      ...(log === undefined ? {} : { log }),
    });
    listening.onListening?.(running.url, diagnostics);
    const sandbox = ownSecret === null ? null : createSandbox(plan, running.url, ownSecret, now);
    return {
      reporters: {
        lastEventMs: () => lastMs,
        isDone: sandbox === null ? null : sandbox.isDone,
        forMs: listening.forMs ?? LISTEN_FOR_MS,
        failure: () => failure,
      },
      ...(sandbox === null ? {} : { sandbox: sandbox.open }),
      async [Symbol.asyncDispose]() {
        await sandbox?.close();
        await running.close();
        recorder.finish();
        await joiner.close();
      },
    };
  };
}

/** One for all rounds of a start: what it has to tell comes later than the round that it is about. */
function createSandbox({ environment }: Plan, url: string, secret: string, now: () => number) {
  let embedded: Promise<EmbeddedSandbox> | null = null;
  let started: EmbeddedSandbox | null = null;
  return {
    async open(): Promise<EmbeddedSandbox> {
      embedded ??= startEmbedded(environment, { webhook: { url, secret }, now });
      started = await embedded;
      return started;
    },
    isDone: (): boolean => (started?.sandbox.reports.pending ?? 0) === 0,
    async close(): Promise<void> {
      await started?.sandbox.close();
    },
  };
}
