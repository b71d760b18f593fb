import { randomBytes } from 'node:crypto';
import { problem, refuse, thrownText } from '../errors.ts';
import { type Device, readDevices } from './devices.ts';
import { compileMessageCheck } from './form.ts';
import { Inbox, openReceipts } from './inbox.ts';
import type { SandboxSettings } from './options.ts';
import { createReporter } from './reporter.ts';
import { SANDBOX_KEY } from './webhook.ts';

export type SandboxState = ReturnType<typeof createState>;

/** @throws HandbillError (exit 2) for a key, a webhook or a file that cannot be used */
export function createState(options: SandboxSettings) {
  const { apiKey = SANDBOX_KEY, api = null, devices, webhook, receipts, maxRecipients = 1_000 } = options;
  const { scripts = 'reserved', now = Date.now, latencyMs = 0, log } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const hint = 'Use printable ASCII characters without spaces.';
    const message = "The sandbox's API key has characters that are not allowed in a header.";
    throw refuse(problem('invalid-api-key', message, { hint }));
  }
  const shared = { scripts, now, latencyMs, log };
  return {
    ...shared,
    apiKey,
    checker: compileMessageCheck(options.fields),
    /** Takes the place of the usual API. */
    provider: api,
    maxRecipients: Math.min(maxRecipients, api?.recipients ?? 1_000),
    devices: devices === undefined ? new Map<string, Device>() : readDevices(devices),
    /** No other start of the sandbox gives out ids that begin so. */
    idPrefix: `sbx-${randomBytes(5).toString('hex')}`,
    /** Hashes of the requests that were throttled once, and are accepted when they come again. */
    throttled: new Set<string>(),
    inbox: new Inbox(options.keep ?? 1_000),
    reporter: webhook === undefined ? undefined : createReporter(webhook, shared),
    receipts: receipts === undefined ? undefined : receiptsAt(receipts),
  };
}

function receiptsAt(path: string) {
  try {
    return openReceipts(path);
  } catch (error) {
    throw refuse(problem('file-unreadable', `The receipts cannot be written to ${path}: ${thrownText(error)}.`));
  }
}
