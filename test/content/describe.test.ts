import { describe, expect, it, test } from 'vitest';
import { describeContent } from '../../src/content/describe.ts';
import type { Channel, JsonObject } from '../../src/model.ts';

function shown(channel: Channel, text: string | null, content: JsonObject | null): string {
  return describeContent(channel, text, content).join('\n');
}

const yes = { text: 'Yes', reply: 'yes' };
const no = { text: 'No', reply: 'no' };

describe('messaging-app', () => {
  it('shows header, text, footer and answers', () => {
    const content = {
      header: { image: 'https://a.example/x.jpg' },
      footer: 'Reply STOP to opt out',
      buttons: [yes, no],
    };
    expect(shown('messaging-app', 'Can you come, Ada?\nIt is at nine.', content)).toBe(
      `[image] https://a.example/x.jpg
Can you come, Ada?
It is at nine.
[footer] Reply STOP to opt out
[ Yes ]  [ No ]`,
    );
  });

  test.each([
    ['a video', { video: 'https://a.example/x.mp4' }, '[video] https://a.example/x.mp4'],
    ['a document', { document: 'https://a.example/x.pdf' }, '[document] https://a.example/x.pdf'],
    [
      'a document with a name',
      { document: 'https://a.example/x.pdf', filename: 'Invoice 7.pdf' },
      '[document] Invoice 7.pdf (https://a.example/x.pdf)',
    ],
    ['a heading', { text: 'Your visit' }, '[header] Your visit'],
  ])('shows %s as header', (_label, header, expected) => {
    expect(shown('messaging-app', 'Hi', { header })).toBe(`${expected}\nHi`);
    expect(shown('messaging-app', null, { header })).toBe(expected);
  });

  it('shows a list with its sections and rows', () => {
    const list = {
      button: 'Choose a time',
      sections: [
        { title: 'This week', rows: [{ id: 'a', title: 'Monday, 9 am', description: 'with Dr Ada' }] },
        { rows: [{ id: 'b', title: 'Another day' }] },
      ],
    };
    expect(shown('messaging-app', 'When?', { list })).toBe(
      `When?
[ Choose a time ] opens:
  This week
  ( ) Monday, 9 am
      with Dr Ada
  ( ) Another day`,
    );
  });

  it('leaves out what came out empty', () => {
    expect(shown('messaging-app', 'Hi', { footer: '', header: { text: '' } })).toBe('Hi');
  });
});

describe('rcs', () => {
  it('shows cards one below the other, each in a frame', () => {
    const cards = [
      {
        title: 'Check-up',
        description: 'Half an hour.\nNo pain.',
        media: { url: 'https://a.example/x.jpg', alt: 'A chair' },
        buttons: [yes],
      },
      { title: 'Cleaning', media: { url: 'https://a.example/x.MP4?v=1' } },
    ];
    expect(shown('rcs', null, { cards, cardWidth: 'small', buttons: [no] })).toBe(
      `+-- card 1 of 2 -------------------------
| [image] https://a.example/x.jpg
| [alt] A chair
| Check-up
| Half an hour.
| No pain.
| [ Yes ]
+----------------------------------------
+-- card 2 of 2 -------------------------
| [video] https://a.example/x.MP4?v=1
| Cleaning
+----------------------------------------
[ No ]`,
    );
  });

  it('shows what each button does', () => {
    const buttons = [
      yes,
      { text: 'Open', url: 'https://a.example/book' },
      { text: 'Call us', dial: '+442079460000' },
      { text: 'Find us', location: { latitude: 51.5072, longitude: '-0.1276', label: 'Clinic' } },
      { text: 'Map', location: { latitude: 0, longitude: 0 } },
      { text: 'Where are you?', shareLocation: true },
      { text: 'Save', event: { title: 'Check-up', start: '2026-11-21T09:00:00Z', end: '2026-11-21T09:30:00Z' } },
      no,
    ];
    expect(shown('rcs', 'Hi', { buttons })).toBe(
      `Hi
[ Yes ]
[ Open ] -> https://a.example/book
[ Call us ] -> +442079460000
[ Find us ] -> Clinic (51.5072, -0.1276)
[ Map ] -> 0, 0
[ Where are you? ] -> shares the location
[ Save ] -> calendar: Check-up, 2026-11-21T09:00:00Z to 2026-11-21T09:30:00Z
[ No ]`,
    );
  });

  it('shows answers side by side as long as there is room', () => {
    const buttons = Array.from({ length: 11 }, (_, i) => ({ text: `Answer ${i}`, reply: `${i}` }));
    const lines = describeContent('rcs', 'Hi', { buttons });
    expect(lines.slice(1).join('  ')).toBe(buttons.map(({ text }) => `[ ${text} ]`).join('  '));
    expect(lines.length).toBe(4);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(72);
  });
});

describe('the other channels', () => {
  it('show an SMS as its text', () => {
    expect(describeContent('sms', 'Hi\nthere', null)).toEqual(['Hi', 'there']);
  });

  it('show nothing for a text that the provider has', () => {
    for (const channel of ['sms', 'rcs', 'messaging-app'] as const)
      expect(describeContent(channel, null, null)).toEqual([]);
  });

  it('show an email with its headers', () => {
    const content = {
      subject: 'Your table',
      preheader: 'By the window',
      html: '<p>Grüße</p>',
      unsubscribe: { url: 'https://a.example/u/1', mailto: 'u@a.example', oneClick: true },
    };
    expect(shown('email', 'Hello\nAda', content)).toBe(
      `Subject: Your table
Preheader: By the window
Unsubscribe: https://a.example/u/1, u@a.example (one click)

[html] 14 bytes
Hello
Ada`,
    );
    expect(shown('email', 'Hello', { subject: 'Hi' })).toBe('Subject: Hi\n\nHello');
  });

  it('show a call as it is spoken', () => {
    const text = 'One two three four five.';
    const content = { language: 'en-GB', voice: 'Emma', repeat: 3 };
    expect(shown('voice', text, content)).toBe(`Spoken 3 times, in en-GB, by Emma, about 6 seconds:\n${text}`);
    expect(shown('voice', 'Hi', {})).toBe('Spoken once, about 1 second:\nHi');
    expect(shown('voice', null, { language: 'en-GB' })).toBe('Spoken once, in en-GB:');
  });
});
