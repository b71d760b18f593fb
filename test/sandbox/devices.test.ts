import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { DEVICES, type Device, parseDevice, readDevices, takes } from '../../src/sandbox/devices.ts';
import { endingOf } from '../../src/sandbox/endings.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { messageTo } from './message.ts';
import { post, withSandbox } from './post.ts';

const FILES = new URL('../fixtures/sandbox/devices/', import.meta.url);

function fixture(name: string): string {
  return fileURLToPath(new URL(name, FILES));
}

function device(text: string): Device {
  const found = parseDevice(text);
  if (found === undefined) throw new Error(`no device: ${text}`);
  return found;
}

describe('a device in words', () => {
  test.each([
    ['android 4.4', 'Android 4.4'],
    ['  Android   15 ', 'Android 15'],
    ['IOS 18.10.1', 'iOS 18.10.1'],
    ['ios 18.2 without the messaging app', 'iOS 18.2 without the messaging app'],
    ['android 15 without messaging app', 'Android 15 without the messaging app'],
    ['Feature Phone', 'feature phone'],
    ['landline', 'landline'],
  ])('%j is %s', (text, label) => {
    expect(parseDevice(text)?.label).toBe(label);
  });

  test.each(['', 'android', 'ios x', 'android 5,0', 'android 5.', 'android .5', 'windows 10', 'android 1.2.3.4.5'])(
    '%j is none',
    (text) => {
      expect(parseDevice(text)).toBeUndefined();
    },
  );
});

describe('RCS needs Android 5.0 or later, or iOS 18.2 or later', () => {
  test.each([
    ['android 4.4', false],
    ['android 4.4.4', false],
    ['android 4.10', false],
    ['android 5', true],
    ['android 5.0', true],
    ['android 5.0.1', true],
    ['android 10', true],
    ['android 15', true],
    ['ios 17.6', false],
    ['ios 18', false],
    ['ios 18.1', false],
    ['ios 18.1.9', false],
    ['ios 18.2', true],
    ['ios 18.10', true],
    ['ios 26', true],
    ['feature phone', false],
    ['landline', false],
    ['ios 18.2 without messaging app', true],
  ])('%s: %s', (text, rcs) => {
    expect(takes(device(text), 'RCS')).toBe(rcs);
  });
});

test.each([
  ['android 4.4', 'SMS, MessagingApp, Voice'],
  ['android 15', 'SMS, RCS, MessagingApp, Voice'],
  ['android 15 without messaging app', 'SMS, RCS, Voice'],
  ['feature phone', 'SMS, Voice'],
  ['landline', 'Voice'],
])('%s takes %s', (text, channels) => {
  expect(device(text).takes.join(', ')).toBe(channels);
});

test.each(['WHATSAPP', 'WhatsApp', 'messaging-app', 'Messaging App'])('%s is the messaging app', (channel) => {
  expect(takes(device('feature phone'), channel)).toBe(false);
});

it('no ending is that of another answer', () => {
  expect(DEVICES.size).toBe(12);
  for (const digits of DEVICES.keys())
    expect([digits, endingOf(`+447700900${digits}`, 'all')]).toEqual([digits, undefined]);
});

describe('the sandbox refuses what a device does not take', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ apiKey: 'test-key' });
  });
  afterAll(() => sandbox.close());

  const cases = [...DEVICES].flatMap(([digits, one]) =>
    ['SMS', 'RCS', 'MessagingApp', 'Voice'].map(
      (channel) => [digits, one.label, channel, takes(one, channel)] as const,
    ),
  );
  test.each(cases)('%s (%s), %s: %s', async (digits, label, channel, taken) => {
    const answer = await post(sandbox, { ...messageTo(`+447700900${digits}`), channel });
    if (taken) expect(answer.status).toBe(202);
    else {
      expect([answer.status, answer.type]).toEqual([422, 'application/problem+json']);
      expect(answer.json).toEqual({
        type: 'http://sandbox.invalid/problems/channel-not-supported',
        title: 'Channel not supported',
        status: 422,
        code: 'channel-not-supported',
        detail: expect.stringContaining(`${channel}: the device is a`),
      });
      expect(answer.text).toContain(label);
    }
  });

  test.each([
    ['a number of the table that is not reserved', '+447911123844', 'RCS', 202],
    ['a number with a script and a channel that a device might lack', '+447700900404', 'RCS', 404],
    ['a channel that only the account knows', '+447700900801', 'Pigeon', 202],
  ])('%s', async (_label, number, channel, status) => {
    expect((await post(sandbox, { ...messageTo(number), channel })).status).toBe(status);
  });

  it('by every number, or by none', async () => {
    const message = { ...messageTo('+447911123844'), channel: 'RCS' };
    await withSandbox({ scripts: 'all' }, async (all) => {
      expect((await post(all, message)).status).toBe(422);
    });
    await withSandbox({ scripts: 'none' }, async (none) => {
      expect((await post(none, { ...messageTo('+447700900844'), channel: 'RCS' })).status).toBe(202);
    });
  });
});

describe('devices from a file', () => {
  test.each([
    ['+447911123001', 'RCS', 422],
    ['447911123001', 'RCS', 422],
    ['+447911123001', 'SMS', 202],
    ['+447911123002', 'RCS', 422],
    ['+447911123003', 'MessagingApp', 422],
    ['+447911123004', 'RCS', 202],
    ['+447911123005', 'SMS', 422],
    ['+447911123006', 'RCS', 202],
    ['+447700900844', 'RCS', 202],
    ['+447700900776', 'RCS', 422],
  ])('%s, %s: %i', async (number, channel, status) => {
    await withSandbox({ devices: fixture('phones.csv') }, async (sandbox) => {
      expect((await post(sandbox, { ...messageTo(number), channel })).status).toBe(status);
    });
  });

  it('hold also where scripts are switched off', async () => {
    await withSandbox({ devices: fixture('phones.csv'), scripts: 'none' }, async (sandbox) => {
      expect((await post(sandbox, { ...messageTo('+447911123001'), channel: 'RCS' })).status).toBe(422);
    });
  });

  it('say everything that is wrong at once, with lines', () => {
    const file = fixture('wrong.csv');
    expect(() => readDevices(file)).toThrow(
      expect.objectContaining({
        exit: 2,
        diagnostics: [
          expect.objectContaining({ code: 'invalid-address', at: { file, line: 3 } }),
          expect.objectContaining({ code: 'invalid-value', at: { file, line: 4 }, hint: expect.any(String) }),
          expect.objectContaining({ code: 'duplicate-address', at: { file, line: 5 } }),
          expect.objectContaining({ code: 'invalid-value', at: { file, line: 7 } }),
        ],
      }),
    );
  });

  test.each([
    ['no-columns.csv', 'unknown-column'],
    ['open-quote.csv', 'csv-syntax'],
    ['nowhere.csv', 'file-unreadable'],
  ])('%s refuses the start: %s', async (name, code) => {
    await expect(startSandbox({ apiKey: 'k', devices: fixture(name) })).rejects.toMatchObject({ exit: 2, code });
  });
});
