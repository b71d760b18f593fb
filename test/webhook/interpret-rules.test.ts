import { describe, expect, it } from 'vitest';
import { MAX_EVENTS } from '../../src/webhook/interpret.ts';
import { golden } from '../helpers/golden.ts';
import { AT, eventsOf, interpret, interpreter, NOW, readOne, said } from './reading.ts';

const TIME = '2026-11-21T09:00:00Z';
const PERSON = '+447700900123';

golden('a document of any form is read as these events', 'webhook/interpret-rules', (text) =>
  eventsOf(JSON.parse(text)).map(said),
);

describe('where events are', () => {
  const one = { messageId: 'm-1', status: 'sent' };
  const two = { messageId: 'm-2', status: 'read' };
  it.each<[label: string, recipients: readonly object[]]>([
    ['the second', [{ to: PERSON }, { who: '+447700900124' }, { who: '+447700900125' }]],
    ['the first', [{ who: '+447700900124' }, { to: PERSON }, { who: '+447700900125' }]],
  ])(
    'of several recipients, %s is not understood: the event is kept once, and the others are read',
    (_, recipients) => {
      const body = { status: 'delivered', recipients };
      const events = eventsOf(body);
      expect(events.filter((event) => event.kind === 'delivery')).toMatchObject([{ address: PERSON }]);
      expect(events.filter((event) => event.kind !== 'delivery')).toEqual([
        { kind: 'unread', body: JSON.stringify(body) },
      ]);
    },
  );

  it('a list of more recipients than a body may have events is refused', () => {
    const recipients = [{ to: PERSON }, ...Array.from({ length: MAX_EVENTS }, (_, i) => i)];
    expect(interpreter().interpretDocument({ status: 'delivered', recipients }, NOW).problems).toMatchObject([
      { kind: 'too-many-events' },
    ]);
  });

  it('the others are kept where some cannot be read', () => {
    const kinds = eventsOf({ results: [one, { odd: 1 }, 'x', null, two] }).map((event) => event.kind);
    expect(kinds).toEqual(['delivery', 'unread', 'unread', 'unread', 'delivery']);
  });

  it('each of several recipients has a report of its own', () => {
    const recipients = [
      { msisdn: PERSON, status: 'delivered', metaData: { handbill: 'a' } },
      { msisdn: '+447700900124', metaData: { handbill: 'b' } },
    ];
    const events = eventsOf({ id: 'm', status: 'failed', error: 'barred', recipients }).map(said);
    expect(events).toMatchObject([
      { reference: 'a', address: PERSON, state: 'delivered' },
      { reference: 'b', address: '+447700900124', state: 'failed' },
    ]);
  });

  it('the id of an envelope is not a message id', () => {
    expect(readOne({ id: 'account', entry: [{ status: 'sent', to: PERSON }] })).not.toHaveProperty('messageId');
    expect(readOne({ id: 'event', data: { id: 'm', status: 'sent' } })).toMatchObject({
      messageId: 'm',
      eventId: 'event',
    });
  });
});

describe('fields', () => {
  it('an id with more digits than a double holds keeps them', () => {
    expect(interpret('{"messageId": 12345678901234567890, "status": "sent"}').events).toMatchObject([
      { messageId: '12345678901234567890' },
    ]);
  });

  it('an error has at most 500 characters, and no half of one', () => {
    const error = readOne({ messageId: 'm', status: 'failed', error: '😀'.repeat(400) })['error'];
    expect(error).toBe('😀'.repeat(250));
    expect(String(readOne({ messageId: 'm', status: 'failed', error: `x${'😀'.repeat(400)}` })['error'])).toHaveLength(
      499,
    );
  });

  it('what is too long or holds control characters is not an id', () => {
    expect(readOne({ messageId: 'x'.repeat(201), id: 'm', status: 'sent' })).toMatchObject({ messageId: 'm' });
    expect(readOne({ messageId: 'a\u0007b', id: 'm', status: 'sent' })).toMatchObject({ messageId: 'm' });
  });
});

describe('a mapping', () => {
  const event = { report: { number: 'm-1', phase: 'handed-over', who: '07700900123', when: 1_795_251_600, why: 'E7' } };

  it('names what is elsewhere', () => {
    const fields = {
      messageId: ['/report/number'],
      status: ['/nowhere', '/report/phase'],
      to: ['/report/who'],
      timestamp: ['/report/when'],
      error: ['/report/why'],
    };
    const mapping = { fields, states: { 'Handed Over': 'undeliverable' } as const, unsupported: ['e-7'] };
    expect(readOne(event, mapping)).toEqual({
      kind: 'delivery',
      messageId: 'm-1',
      state: 'undeliverable',
      word: 'handed-over',
      address: PERSON,
      atMs: AT,
      error: 'E7',
      cause: 'unsupported-channel',
    });
  });

  it('takes the place of the usual pointers of only that field', () => {
    const body = { id: 'old', number: 'new', status: 'sent', to: PERSON };
    expect(readOne(body, { fields: { messageId: ['/number'] } })).toMatchObject({ messageId: 'new', address: PERSON });
    expect(
      readOne({ id: 'old', status: 'sent', to: PERSON }, { fields: { messageId: ['/number'] } }),
    ).not.toHaveProperty('messageId');
  });

  it('looks into what surrounds an event', () => {
    const body = { batch: { id: 'b-1' }, results: [{ status: 'sent' }] };
    expect(readOne(body, { fields: { messageId: ['/batch/id'] } })).toMatchObject({ messageId: 'b-1' });
  });

  it('follows each recipient of a list', () => {
    const body = {
      messageId: 'm',
      recipients: [
        { phase: 'sent', to: PERSON },
        { phase: 'read', to: '+447700900124' },
      ],
    };
    const events = eventsOf(body, { fields: { status: ['/recipients/0/phase'] } });
    expect(events).toMatchObject([{ state: 'sent' }, { state: 'read', address: '+447700900124' }]);
  });

  it('says where events are, in each other too', () => {
    const body = {
      results: [{ messageId: 'no', status: 'sent' }],
      a: { b: [{ c: { messageId: 'm', status: 'read' } }] },
    };
    expect(eventsOf(body, { events: ['/a/b', '/c'] })).toMatchObject([{ messageId: 'm', state: 'read' }]);
  });

  it('puts own words first', () => {
    expect(readOne({ messageId: 'm', status: 'Accepted' }, { states: { ACCEPTED: 'delivered' } })).toMatchObject({
      state: 'delivered',
      word: 'Accepted',
    });
  });
});

describe('a body', () => {
  const json = '{"messageId":"m","status":"sent","error":"é"}';
  it.each<[label: string, body: string | Uint8Array, form: string, count: number]>([
    ['with a byte order mark', `\ufeff${json}`, 'json', 1],
    ['in UTF-16', Buffer.from(`\ufeff${json}`, 'utf16le'), 'json', 1],
    ['in latin-1', Buffer.from(json, 'latin1'), 'json', 1],
    ['with spaces around', ` \r\n${json}\n `, 'json', 1],
    ['of lines', `${json}\r\n\r\n${json}\n`, 'json-lines', 2],
    ['of lines, one too deep', `${json}\n${'['.repeat(40)}${']'.repeat(40)}`, 'json-lines', 2],
    ['of a form', 'MessageSid=m&MessageStatus=sent&&x', 'form', 1],
    ['of a form with JSON in it', `payload=${encodeURIComponent(json)}`, 'form', 1],
    ['of nothing', ' \n', 'empty', 0],
  ])('%s', (_label, body, form, count) => {
    const read = interpret(body);
    expect({ form: read.form, count: read.events.length, problems: read.problems }).toEqual({
      form,
      count,
      problems: [],
    });
    expect(read.events[0]?.kind ?? 'delivery').toBe('delivery');
  });

  it.each<[label: string, body: string | Uint8Array, kind: string, status: number]>([
    ['prose', 'Hello there', 'not-readable', 400],
    ['half of JSON', '{"messageId":', 'not-readable', 400],
    ['XML', '<a b="c=d">e</a>', 'not-readable', 400],
    ['bytes', new Uint8Array([0, 255, 254, 61]), 'not-readable', 400],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 'too-deep', 400],
    ['levels without an end', '['.repeat(65_000), 'too-deep', 400],
    ['1,001 events', JSON.stringify(Array(1001).fill({})), 'too-many-events', 413],
    [
      '1,001 recipients',
      `{"messageId":"m","status":"sent","recipients":${JSON.stringify(Array(1001).fill('a'))}}`,
      'too-many-events',
      413,
    ],
    ['10,000 events of no use', JSON.stringify(Array(10_000).fill([])), 'too-many-events', 413],
  ])('%s is refused as a whole', (_label, body, kind, status) => {
    expect(interpret(body)).toMatchObject({ events: [], problems: [{ kind, status }] });
  });

  it('has up to 32 levels and 1,000 events', () => {
    expect(interpret(`${'['.repeat(32)}${']'.repeat(32)}`).problems).toEqual([]);
    expect(interpret(JSON.stringify(Array(1000).fill({ messageId: 'm', status: 'sent' }))).events).toHaveLength(1000);
  });

  it('keeps what it does not understand, up to 64 KiB', () => {
    expect(interpret(JSON.stringify({ odd: 'x'.repeat(200_000) })).events).toMatchObject([
      { kind: 'unread', body: expect.stringMatching(/^.{65536}$/) },
    ]);
  });
});

describe('names that objects have by themselves', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '%s is a name like any other',
    (name) => {
      const body = `{"${name}":{"status":"delivered","polluted":true,"messageId":"x"},"messageId":"m","status":"sent"}`;
      expect(interpret(body).events).toMatchObject([{ messageId: 'm', state: 'sent' }]);
      expect(interpret(body, { fields: { status: [`/${name}/status`] } }).events).toMatchObject([
        { state: 'delivered' },
      ]);
      expect(interpret(body, { fields: { status: [`/${name}/name`] } }).events).toMatchObject([{ kind: 'unread' }]);
      expect(interpret(`${name}=1&MessageSid=m&MessageStatus=sent`).events).toMatchObject([{ messageId: 'm' }]);
      expect(interpret(`{"messageId":"m","status":"${name}"}`).events).toMatchObject([
        { state: 'unknown', word: name },
      ]);
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
    },
  );
});

describe('a list in which only replies have a time', () => {
  const { interpretDocument } = interpreter({ events: ['/items'], fields: { timestamp: [], repliedAt: ['/made'] } });
  const read = (...items: readonly object[]) =>
    interpretDocument({ items }, NOW).events.map((event) => [event.kind, 'atMs' in event ? event.atMs : undefined]);

  it('gives a report none, whatever other times it has', () => {
    expect(read({ id: 'm', to: PERSON, status: 'delivered', made: TIME, timestamp: TIME, updatedAt: TIME })).toEqual([
      ['delivery', null],
    ]);
  });

  it('gives a reply its own', () => {
    expect(read({ id: 'm', from: PERSON, text: 'Hi', made: TIME }, { id: 'n', from: PERSON, text: 'Hi' })).toEqual([
      ['reply', AT],
      ['reply', null],
    ]);
  });

  it('takes the time of all events where a reply has none', () => {
    const both = interpreter({ fields: { timestamp: ['/when'], repliedAt: ['/made'] } });
    const at = (event: object) => both.interpretDocument(event, NOW).events.map((one) => 'atMs' in one && one.atMs);
    expect(at({ id: 'm', from: PERSON, text: 'Hi', when: TIME })).toEqual([AT]);
    expect(at({ id: 'm', to: PERSON, status: 'delivered', made: TIME })).toEqual([null]);
  });
});
