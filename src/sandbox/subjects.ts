import { addressesOf } from './addresses.ts';
import type { Message } from './check-message.ts';
import type { Dialect } from './dialect.ts';
import type { Taken } from './reply.ts';
import type { Subject } from './sandbox-event.ts';
import type { Echo } from './webhook-options.ts';

/** A subject, and what else decides its story. */
export interface Followed {
  readonly subject: Subject;
  readonly isContact: boolean;
  /** What chance is about: the message to this person, whatever the request is like that carries it. */
  readonly about: string;
}

/** The recipients of a message that the API goes on with, each as its events speak of it. */
export function subjectsOf(dialect: Dialect, { id, message, refusals }: Taken, echo: Echo): Followed[] {
  const inline = message.recipients?.length ?? 0;
  const addresses = addressesOf(message);
  const { from } = fieldsOf(message);
  const sender = typeof from === 'string' ? from : '';
  return addresses.flatMap((to, i) => {
    if (refusals.has(i)) return [];
    const metaData = metaDataOf(message, i);
    const subject: Subject = {
      messageId: dialect.results === 'never' || addresses.length === 1 ? id : `${id}-${i + 1}`,
      to,
      sender,
      channel: message.channel,
      echo: echoOf(echo, metaData, message),
    };
    const about = `${message.channel}\n${to}\n${JSON.stringify(metaData)}`;
    return [{ subject, isContact: i >= inline, about }];
  });
}

type Fields = Readonly<Partial<Record<string, unknown>>>;

/** Fields that a message may have, which nobody has looked at. */
function fieldsOf(message: Message): Fields {
  return message as unknown as Fields;
}

/** What the client attached to the message, and to this recipient in particular. */
function metaDataOf(message: Message, position: number): Fields {
  return { ...objectOf(fieldsOf(message)['metaData']), ...objectOf(message.recipients?.[position]?.['metaData']) };
}

function echoOf(echo: Echo, metaData: Fields, message: Message): Fields {
  switch (echo) {
    case 'metadata':
      return Object.keys(metaData).length === 0 ? {} : { metaData };
    case 'reference': {
      const reference = metaData['handbill'] ?? metaData['ref'];
      return reference === undefined ? {} : { reference };
    }
    case 'text': {
      const { text } = objectOf(fieldsOf(message)['body']);
      return typeof text === 'string' ? { text } : {};
    }
    case 'none':
      return {};
  }
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
