import { EVENT_FIELDS, type EventField } from '../model.ts';

/*
 * Where public APIs put the parts of an event (DOMAIN, sections 0 and 1.7), as JSON pointers of which the first that
 * leads to something usable counts. Letter case, `_` and `-` of names do not count, so that `messageId` is `message_id`
 * and `MessageId` too. `0` in a list of recipients stands for each of its entries in turn. The names that CONTRACT
 * fixes come first, wherever they compete.
 */

/** Parts that follow from others, and have no name in handbill.yaml. */
export const INNER_FIELDS = [
  ...EVENT_FIELDS,
  /** Names that say which kind of event it is. */
  'kind',
  /** Whoever we write to, in names that say so of reports and of replies. */
  'person',
  /** Whoever we write to by an id of an address book, where nothing else says it. */
  'contact',
  /** Our own number, where only the envelope of a reply has it. */
  'ownNumber',
  /** A group of states by its number. */
  'group',
  /** Times that may be of something else: of what was sent, not of what became of it. */
  'otherTime',
  /** Times whose name alone is a state. */
  'readTime',
  'deliveredTime',
  /** Ids that senders may choose, which may be a reference of ours. */
  'callback',
  /** Something whose presence is an error. */
  'fault',
  'code',
  'faultName',
  'permanent',
] as const satisfies readonly (EventField | string)[];
export type InnerField = (typeof INNER_FIELDS)[number];

/** `/to/number` and its kind, for every name of something. */
function inside(names: readonly string[], inner: readonly string[]): string[] {
  return names.flatMap((name) => inner.map((part) => `/${name}/${part}`));
}

function at(...names: readonly string[]): string[] {
  return names.map((name) => `/${name}`);
}

const MESSAGE_IDS = ['messageId', 'messageUuid', 'messageSid', 'smsSid', 'smsMessageSid', 'smsId', 'msgId'];
const ADDRESSES = ['msisdn', 'phoneNumber', 'number', 'address/msisdn', 'address', 'email', 'identifierValue'];
/** Lists of recipients, each of which makes an event of its own. */
export const RECIPIENT_LISTS: readonly string[] = ['/recipients', '/to'];

/** `error` is read where no `fault` says it. */
export const SHAPES: Readonly<Record<InnerField, readonly string[]>> = {
  reference: [
    ...at('reference', 'metaData/handbill'),
    ...at('recipients/0/metaData/handbill', 'recipients/0/reference', 'to/0/metaData/handbill'),
    ...at('recipient/metaData/handbill', 'message/metaData/handbill', 'message/reference', 'messageMetaData/handbill'),
  ],
  callback: at('clientRef', 'clientReference', 'callbackData', 'bizOpaqueCallbackData', 'customId', 'externalId'),
  messageId: [
    ...at('recipients/0/messageId', 'to/0/messageId'),
    ...at(...MESSAGE_IDS),
    ...at('message/id', 'uuid', 'sid', 'id', 'batchId', 'bulkId'),
  ],
  eventId: at('eventId', 'eventUuid', 'eventSid', 'notificationId', 'reportId', 'id'),
  inReplyTo: at(
    ...[
      'inReplyTo',
      'replyTo',
      'replyTo/messageId',
      'inReplyToId',
      'context/id',
      'context/messageId',
      'context/messageUuid',
    ],
    ...['originalRepliedMessageSid', 'originalMessageId', 'pairedMessageId', 'quotedMessageId'],
  ),
  status: [
    ...inside(['recipients/0', 'to/0'], ['status', 'status/name', 'deliveryStatus']),
    ...at('status', 'messageStatus', 'smsStatus', 'deliveryStatus', 'deliveryState', 'state'),
    ...inside(['status', 'deliveryStatus'], ['name', 'groupName', 'status', 'state', 'code', 'value']),
  ],
  group: at('status/groupId'),
  kind: at('eventType', 'event', 'type', 'direction', 'event/type', 'messageDirection', 'kind', 'topic'),
  timestamp: [
    ...inside(['recipients/0', 'to/0'], ['timestamp', 'doneAt', 'statusDatetime']),
    ...at('timestamp', 'seenAt', 'readAt', 'doneAt', 'deliveredAt', 'failedAt', 'occurredAt', 'eventTime'),
    ...at('statusDatetime', 'statusTime', 'statusAt', 'status/timestamp', 'messageTimestamp', 'time', 'datetime', 'at'),
    ...at('receivedAt', 'acceptTime', 'date'),
  ],
  otherTime: at('updatedAt', 'createdAt', 'createdDatetime', 'acceptedTime', 'sentAt'),
  readTime: at('seenAt', 'readAt'),
  deliveredTime: at('deliveredAt'),
  from: [
    ...inside(['from', 'sender', 'originator'], ADDRESSES),
    ...at('from', 'sender', 'originator', 'source', 'fromNumber', 'sender/contact/identifierValue'),
  ],
  person: [
    ...at('recipients/0/msisdn', 'to/0/msisdn', 'msisdn', 'recipient/msisdn', 'contact/msisdn'),
    ...at('channelIdentity/identity', 'waId'),
  ],
  to: [
    ...inside(['recipients/0', 'to/0'], [...ADDRESSES, 'to', 'recipient', 'destination']),
    ...inside(['to', 'recipient', 'destination', 'receiver'], [...ADDRESSES, 'to']),
    ...at(
      'receiver/contacts/0/identifierValue',
      'receiver/connector/identifierValue',
      'to/0',
      'recipients/0',
      'to',
      'destination',
      'recipient',
      'recipientId',
    ),
    ...at('receiver', 'phoneNumber', 'phone', 'mobile', 'number', 'email', 'address', 'toNumber'),
  ],
  contact: at('contactId', 'contact'),
  ownNumber: at('metadata/displayPhoneNumber', 'senderId'),
  text: [
    ...at('text', 'text/body', 'text/text', 'body', 'body/text', 'body/text/text', 'messageText', 'messageBody'),
    ...at('content', 'content/text', 'content/0/text', 'content/text/body', 'contactMessage/textMessage/text'),
    ...at('contactMessage/choiceResponseMessage/postbackData', 'button/text', 'interactive/buttonReply/title'),
    ...at('interactive/listReply/title', 'message/text', 'message/content/text', 'message', 'suggestionResponse/text'),
    ...at('image/caption', 'video/caption', 'document/caption'),
  ],
  channel: [
    ...at('channel', 'channelIdentity/channel', 'recipients/0/channel', 'to/0/channel', 'messagingProduct'),
    ...at('channelType', 'messageChannel', 'integrationType', 'channelPrefix', 'from/type', 'service', 'messageType'),
    ...at('type', 'event', 'eventType'),
  ],
  /** What is in it is found by names (`interpret-fault.ts`). */
  fault: at(
    ...['recipients/0/error', 'recipients/0/errors', 'to/0/error', 'to/0/errors'],
    ...['error', 'errors', 'failureReason', 'failure', 'reason'],
  ),
  error: at(
    ...['errorMessage', 'errorText', 'errorDescription', 'errorReason', 'errorDetail', 'failureMessage'],
    ...['status/description', 'statusDescription', 'statusMessage', 'statusReason', 'statusText'],
    ...['description', 'detail', 'title'],
  ),
  code: at('errorCode', 'errCode', 'statusErrorCode', 'errorId', 'failureCode', 'reasonCode', 'statusCode', 'code'),
  faultName: at('status/name', 'errorName', 'errorType'),
  permanent: at('permanent', 'isPermanent', 'isPermanentFailure'),
};

/**
 * Where the events of a body are: in arrays, of which every one counts that is not empty; else in an object that is
 * wrapped, where what surrounds it is no event of its own. Each is read in what surrounds it, and may hold others:
 * `entry[].changes[].value.statuses[]`.
 */
export const ENVELOPES: readonly string[] = [
  ...at('results', 'events', 'data', 'entry', 'changes', 'statuses', 'messages', 'reports', 'deliveryReports'),
  ...at(
    'deliveries',
    'notifications',
    'replies',
    'items',
    'value',
    'payload',
    'event',
    'message',
    'messageDeliveryReport',
  ),
  ...at('deliveryReport', 'statusUpdate', 'inboundMessage', 'body', 'notification', 'report', 'reply'),
];
