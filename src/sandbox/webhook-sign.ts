import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { WebhookSettings } from './webhook-settings.ts';

/** The headers that prove who posts. The id stays the same when a post is repeated, the time does not. */
export type Sign = (id: string, nowMs: number, body: string) => Readonly<Record<string, string>>;

/** How posts are signed, the other side of what a receiver verifies. */
export function signerOf({ scheme, secret, hmac }: Pick<WebhookSettings, 'scheme' | 'secret' | 'hmac'>): Sign {
  switch (scheme) {
    case 'standard':
      return standard(new Webhook(secret));
    case 'hmac':
      return keyedHash(secret, hmac);
    case 'basic':
      return always({ authorization: `Basic ${Buffer.from(secret).toString('base64')}` });
    case 'bearer':
      return always({ authorization: `Bearer ${secret}` });
    case 'path':
    case 'none':
      return always({});
  }
}

function always(headers: Readonly<Record<string, string>>): Sign {
  return () => headers;
}

function standard(webhook: Webhook): Sign {
  return (id, nowMs, body) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': webhook.sign(id, new Date(nowMs), body),
  });
}

function keyedHash(secret: string, hmac: WebhookSettings['hmac']): Sign {
  return (id, nowMs, body) => {
    const timestamp = String(Math.floor(nowMs / 1000));
    const values: Readonly<Record<string, string>> = { id, timestamp, body };
    const signed = hmac.signed.replace(/\{(id|timestamp|body)\}/g, (_all, name: string) => values[name] ?? '');
    const signature = createHmac(hmac.algorithm, secret).update(signed).digest(hmac.encoding);
    return {
      [hmac.header]: `${hmac.prefix}${signature}`,
      ...(hmac.timestampHeader === null ? {} : { [hmac.timestampHeader]: timestamp }),
      ...(hmac.idHeader === null ? {} : { [hmac.idHeader]: id }),
    };
  };
}
