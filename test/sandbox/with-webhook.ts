import { expect } from 'vitest';
import type { SandboxOptions } from '../../src/operations/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import type { WebhookOptions } from '../../src/sandbox/webhook.ts';
import { messageTo } from './message.ts';
import { type Answer, post, withSandbox } from './post.ts';
import { MANNERS, type Manner, type Receiver, startReceiver } from './receiver.ts';

/** So short that tests end soon, and apart enough that the order is that of the story. */
export const QUICK = { sent: 10, delivered: 20, read: 20, reply: 20, late: 150 };

/** How to start: everything of a webhook but its URL, and of a sandbox. */
export interface Start {
  readonly webhook?: Partial<WebhookOptions>;
  readonly sandbox?: Partial<SandboxOptions>;
  readonly manner?: Manner;
}

/** Starts a receiver and a sandbox that posts to it: one post at a time, unsigned without a secret. */
export async function withWebhook(
  start: Start,
  use: (sandbox: Sandbox, receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(start.manner ?? MANNERS.well);
  const webhook: WebhookOptions = {
    url: receiver.url,
    delaysMs: QUICK,
    retriesMs: [5, 10],
    atOnce: 1,
    ...start.webhook,
  };
  try {
    await withSandbox({ ...start.sandbox, webhook }, (sandbox) => use(sandbox, receiver));
  } finally {
    await receiver.close();
  }
}

/** Posts one message to the numbers, with a reference for each, and expects it to be taken. */
export async function send(sandbox: Sandbox, channel: string, ...numbers: readonly string[]): Promise<Answer> {
  const answer = await post(sandbox, messageWith(channel, ...numbers));
  expect(answer.status).toBe(202);
  return answer;
}

export function messageWith(channel: string, ...numbers: readonly string[]): Record<string, unknown> {
  const recipients = numbers.map((msisdn) => ({ msisdn, metaData: { handbill: `ref-${msisdn.slice(-3)}` } }));
  return { ...messageTo(), channel, from: 'Riverside', recipients };
}
