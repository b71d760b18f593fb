import { bareNumber } from './addresses.ts';
import { respell } from './respell.ts';
import { isoOf, type SandboxEvent } from './sandbox-event.ts';
import type { ReportWord } from './story.ts';

/**
 * `results`, also for one event, as Infobip posts them: groups of statuses with names, `SEEN` as an event of its own,
 * numbers without `+`, offsets without a colon.
 */
export function perRecipientEvents(events: readonly SandboxEvent[]): unknown {
  return { results: events.map(resultOf) };
}

const STATUSES: Readonly<Record<ReportWord, readonly [group: string, name: string]>> = {
  queued: ['PENDING', 'PENDING_ACCEPTED'],
  sent: ['PENDING', 'PENDING_ENROUTE'],
  delivered: ['DELIVERED', 'DELIVERED_TO_HANDSET'],
  read: ['DELIVERED', 'DELIVERED_TO_HANDSET'],
  expired: ['EXPIRED', 'EXPIRED_EXPIRED'],
  failed: ['UNDELIVERABLE', 'UNDELIVERABLE_NOT_DELIVERED'],
  undeliverable: ['UNDELIVERABLE', 'UNDELIVERABLE_REJECTED_OPERATOR'],
  rejected: ['REJECTED', 'REJECTED_NETWORK'],
  'unheard-of': ['OTHER', 'HANDED_TO_AGGREGATOR'],
};

function resultOf({ subject, beat, atMs }: SandboxEvent): unknown {
  const { messageId, to, sender, channel, echo } = subject;
  const time = isoOf(atMs).replace('Z', '+0000');
  if (beat.kind === 'reply') {
    const content = [{ type: 'TEXT', text: beat.text }];
    return {
      event: 'MO',
      channel,
      sender: bareNumber(respell(to, beat.spelling)),
      destination: sender,
      content,
      receivedAt: time,
    };
  }
  const whose = { channel, sender, destination: bareNumber(to), messageId, ...echo };
  if (beat.word === 'read') return { event: 'SEEN', ...whose, seenAt: time };
  const [groupName, name] = STATUSES[beat.word];
  const status = { groupName, name };
  return { event: 'DELIVERY', ...whose, doneAt: time, status, ...(beat.error === null ? {} : errorOf(beat.error)) };
}

function errorOf({
  code,
  detail,
  isPermanent,
}: NonNullable<Extract<SandboxEvent['beat'], { kind: 'report' }>['error']>): {
  readonly error: unknown;
} {
  const name = code.toUpperCase().replaceAll('-', '_');
  return { error: { name, code: name, description: detail, permanent: isPermanent } };
}
