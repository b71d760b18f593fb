import type { Said } from './receipts.ts';

/*
 * APIs as the servers of the proofs play them: how each writes its requests and answers, from its published description and
 * without any function of handbill.
 */

export const FORM_NAMES = ['messages-v2', 'twilio', 'infobip'] as const;
export type FormName = (typeof FORM_NAMES)[number];

/** A request, as far as its answer depends on it. */
export interface Asked {
  readonly channel: 'sms' | 'rcs';
  readonly text: string;
  /** With a plus sign. */
  readonly addresses: readonly string[];
  /** As the ledger has them. */
  readonly references: readonly string[];
}

/** What an answer says of one recipient, and the id that it gives them. */
export interface Entry {
  readonly said: Said;
  readonly id: string | null;
}

export interface Written {
  readonly status: number;
  readonly body: string;
  readonly each: readonly Entry[];
}

export interface Form {
  /** Lines of an environment of handbill.yaml, indented by four spaces. */
  readonly environment: readonly string[];
  readonly hasRcs: boolean;
  /** Most recipients of a request. */
  readonly most: number;
  read(body: string): Asked;
  /** The requests that would be made, were each recipient of this one alone. */
  apart(body: string): readonly string[];
  /** Without what is left of a validity, which depends on the instant of the request. */
  timeless(body: string): string;
  /**
   * An answer that says this of each recipient.
   * @param id - that of a message that is taken, or refused in a way that gives one
   * @param pick - chooses between several ways to say the same
   */
  say(said: readonly Said[], asked: Asked, id: (at: number) => string, pick: number): Written;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A reference from letters and digits back to the 22 digits of base64url: the same number. */
function fromLetters(text: string): string {
  let number = 0n;
  for (const letter of text) number = number * 36n + BigInt('0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(letter));
  let reference = '';
  for (; reference.length < 22; number /= 64n) reference = `${DIGITS[Number(number % 64n)]}${reference}`;
  return reference;
}

interface Message {
  readonly channel: string;
  readonly body: { readonly text: string };
  readonly recipients: readonly { readonly msisdn: string; readonly metaData: { readonly handbill: string } }[];
}

const MESSAGES_V2: Form = {
  environment: ['    apiKey: { env: HANDBILL_API_KEY }'],
  hasRcs: true,
  most: 1000,
  read(text) {
    const { channel, body, recipients } = JSON.parse(text) as Message;
    return {
      channel: channel === 'RCS' ? 'rcs' : 'sms',
      text: body.text,
      addresses: recipients.map(({ msisdn }) => msisdn),
      references: recipients.map(({ metaData }) => metaData.handbill),
    };
  },
  apart(body) {
    const whole = JSON.parse(body) as Message;
    return whole.recipients.map((one) => JSON.stringify({ ...whole, recipients: [one] }));
  },
  timeless: (body) => body,
  say(said, { addresses }, id, pick) {
    const each = said.map((one, at) => ({ said: one, id: one === 'taken' ? id(at) : null }));
    if (said.length === 1 && said[0] === 'taken') return { status: 202, body: JSON.stringify({ id: id(0) }), each };
    if (said.every((one) => one === 'unsupported') && pick % 4 < 3) {
      return { status: [422, 404, 400][pick % 4] ?? 422, body: '{"code":"channel-not-supported"}', each };
    }
    const entries = each.flatMap(({ said: one, id: own }, at): object[] => {
      const to = addresses[at];
      if (one === 'unclear') return [];
      if (one === 'taken') return [{ to, id: own }];
      return [{ to, error: { code: one === 'refused' ? 'no' : 'channel-not-supported' } }];
    });
    return { status: 202, body: JSON.stringify({ messages: pick % 2 === 0 ? entries : entries.toReversed() }), each };
  },
};

/** A form; one recipient; an error is a code in a 400, and a 201 may say that the message failed. */
const TWILIO: Form = {
  environment: [
    '    provider: twilio',
    '    vars: { account: AC0000 }',
    '    secrets: { token: { env: HANDBILL_API_KEY } }',
    // The reference is in the address of the reports and nowhere else.
    '    webhook: { url: "https://hooks.example.net/webhooks/test", secrets: [{ env: HOOK }] }',
  ],
  hasRcs: true,
  most: 1,
  read(body) {
    const fields = new URLSearchParams(body);
    const to = fields.get('To') ?? '';
    const [, reference = ''] = /[?&]handbill=(\w+)$/.exec(fields.get('StatusCallback') ?? '') ?? [];
    return {
      channel: to.startsWith('rcs:') ? 'rcs' : 'sms',
      text: fields.get('Body') ?? '',
      addresses: [to.replace('rcs:', '')],
      references: [fromLetters(reference)],
    };
  },
  apart: (body) => [body],
  timeless: (body) => body.replace(/(?<=&ValidityPeriod=)\d+/, 'left'),
  say([said = 'unclear'], { addresses: [to] }, idOf, pick) {
    const id = idOf(0);
    const error = (code: number, status = 400) => ({
      status,
      body: JSON.stringify({ code, message: `Error ${code}`, more_info: `https://api.example/${code}`, status }),
      each: [{ said, id: null }],
    });
    const created = (fields: object, own: string | null) => ({
      status: 201,
      body: JSON.stringify({ ...fields, to, from: 'Riverside', error_code: null }),
      each: [{ said, id: own }],
    });
    switch (said) {
      case 'taken':
        return created({ sid: id, status: ['queued', 'accepted', 'sending', 'scheduled'][pick % 4] }, id);
      case 'unclear':
        return pick % 2 === 0 ? created({ status: 'queued' }, null) : created({ sid: id, status: 'parked' }, id);
      case 'refused':
        if (pick % 4 === 0) return created({ sid: id, status: 'failed', error_message: 'no' }, id);
        return error([21211, 21614, 29999][pick % 3] ?? 21211);
      case 'opted-out':
        return error(21610);
      case 'unsupported':
        return error(63036);
      case 'busy':
        return pick % 2 === 0 ? error(21611) : error(20429, 429);
      case 'account':
        return error([20005, 21659, 10001][pick % 3] ?? 20005);
    }
  },
};

interface InfobipBody {
  readonly messages: readonly [
    {
      readonly content: { readonly text: string };
      readonly destinations: readonly { readonly to: string; readonly messageId: string }[];
    },
  ];
}

const INFOBIP_WORDS: Readonly<Partial<Record<Said, readonly (readonly [group: string, name: string])[]>>> = {
  taken: [
    ['PENDING', 'PENDING_ACCEPTED'],
    ['PENDING', 'PENDING_ENROUTE'],
    ['ACCEPTED', 'MESSAGE_ACCEPTED'],
  ],
  refused: [
    ['REJECTED', 'REJECTED_DESTINATION'],
    ['UNDELIVERABLE', 'UNDELIVERABLE_REJECTED_OPERATOR'],
  ],
  unclear: [
    ['PARKED', 'PARKED_SOMEWHERE'],
    ['REJECTED', 'REJECTED_DUPLICATE_MESSAGE_ID'],
  ],
  account: [
    ['REJECTED', 'REJECTED_NOT_ENOUGH_CREDITS'],
    ['REJECTED', 'REJECTED_SENDER'],
  ],
};

/** JSON with several recipients, and a 200 that has a word for each of them: the id of a message is our reference. */
const INFOBIP: Form = {
  environment: [
    '    provider: infobip',
    '    vars: { host: xyz.api.infobip.example }',
    '    secrets: { key: { env: HANDBILL_API_KEY } }',
  ],
  hasRcs: false,
  most: 1000,
  read(body) {
    const [{ content, destinations }] = (JSON.parse(body) as InfobipBody).messages;
    return {
      channel: 'sms',
      text: content.text,
      addresses: destinations.map(({ to }) => `+${to}`),
      references: destinations.map(({ messageId }) => messageId),
    };
  },
  apart(body) {
    const whole = JSON.parse(body) as InfobipBody;
    const [message] = whole.messages;
    return message.destinations.map((one) =>
      JSON.stringify({ ...whole, messages: [{ ...message, destinations: [one] }] }),
    );
  },
  timeless: (body) => body.replace(/(?<="amount":)\d+/, '"left"'),
  say(said, { addresses, references }, _id, pick) {
    const each = said.map((one, at) => {
      const isKnown = one !== 'busy' && one !== 'account';
      return { said: one, id: isKnown ? (references[at] ?? null) : null };
    });
    if (said.every((one) => one === 'busy')) {
      return { status: 429, body: '{"errorCode":"E429","description":"Too many requests sent."}', each };
    }
    const entry = (at: number, one: Said, other = pick) => {
      const words = INFOBIP_WORDS[one] ?? [];
      const [groupName, name] = words[(other + at) % words.length] ?? ['REJECTED', 'REJECTED_DESTINATION'];
      const status = { groupName, name, description: name };
      return { messageId: references[at], status, destination: addresses[at]?.slice(1) };
    };
    const entries = said.flatMap((one, at): object[] => {
      if (one !== 'unclear') return [entry(at, one)];
      // It says nothing, or one thing and its opposite, or what is in no list.
      if (pick % 3 === 0 && said.length > 1) return [];
      return pick % 3 === 1 ? [entry(at, 'taken'), entry(at, 'refused')] : [entry(at, one)];
    });
    // In a list for several, one may be about a stranger.
    const status = { groupName: 'REJECTED', name: 'REJECTED_DESTINATION' };
    const stranger = { messageId: 'of-another-request', status, destination: '447400999999' };
    const all = said.length > 1 && pick % 5 === 0 ? [stranger, ...entries] : entries;
    const messages = pick % 2 === 0 ? all : all.toReversed();
    return { status: 200, body: JSON.stringify({ bulkId: `bulk-${pick}`, messages }), each };
  },
};

export const FORMS: Readonly<Record<FormName, Form>> = { 'messages-v2': MESSAGES_V2, twilio: TWILIO, infobip: INFOBIP };

/** The form of a history or a round. */
export function formOf(seed: number): FormName {
  return FORM_NAMES[seed % FORM_NAMES.length] ?? 'messages-v2';
}
