import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplyMeaning } from '../../src/model.ts';
import { foldWord, meaningOf, WORDS } from '../../src/webhook/meaning.ts';

const read = (text: string, stopWords: readonly string[] = []): ReplyMeaning => meaningOf(text, { stopWords });

describe('what a reply means', () => {
  test.each<[label: string, meaning: ReplyMeaning, texts: readonly string[]]>([
    [
      // The words that US law names, and what the large providers act upon.
      'words',
      'opt-out',
      [
        ...['STOP', 'stopall', 'UNSUBSCRIBE', 'Cancel', 'END', 'Quit', 'OptOut', 'revoke', 'REMOVE', 'TD'],
        ...['arret', 'Arrêt', 'ARRETE', 'ARRETT', 'halt', 'detener', 'parar', 'ferma', 'ОСТАНОВИТЬ', 'ZATRZYMAJ'],
        ...['STOPP', 'Abmelden', 'BAJA', 'salir', 'cancelar', 'sair', 'remover', 'annulla', 'disiscrivi', 'afmelden'],
        ...[
          'stoppa',
          'עצור',
          'توقف من فضلك',
          '스톱',
          'ยกเลิกการรับข่าวสาร',
          'leállít',
          'Oprește',
          'спри',
          'henti',
          'avsluta',
          'LOPETA',
          'poistu',
          'odjava',
          'RET',
          '停止订阅',
          '停止してください',
          '해지',
          'रुकें',
          'annullare',
          '退订',
          '停止',
          'إلغاء',
          'الغاء',
          'stopp!',
        ],
        ...[
          'ÜYELİKTEN ÇIK',
          'üyelikten çık',
          'Uyelikten cik',
          'İPTAL',
          'iptal',
          'ıptal',
          'הסר',
          'לא תודה הסר'.slice(8),
        ],
        ...[
          '수신거부',
          '配信停止',
          'ｽﾄｯﾌﾟ',
          'ยกเลิก',
          'बंद करो',
          'στοπ',
          'ΔΙΑΓΡΑΦΗ',
          'отписаться',
          'aufhören',
          'AUFHÖREN',
        ],
      ],
    ],
    [
      'decorated',
      'opt-out',
      [
        ...[
          ' stop. ',
          'Stop!!',
          '"STOP"',
          '«STOP»',
          '„Stopp“',
          "'stop'",
          '(stop)',
          '*STOP*',
          '¡Baja!',
          'stop?',
          '...stop...',
        ],
        ...[
          'Ｓｔｏｐ',
          'ＳＴＯＰ！',
          'STOP\u200b',
          '\u200f\u202bSTOP\u202c',
          '\ufeffstop',
          'S\u00adT\u00adO\u00adP',
          '𝐒𝐓𝐎𝐏',
          'ⓢⓣⓞⓟ',
        ],
        ...[
          'STOP 🛑',
          '😡 stop 😡',
          '👎🏽STOP',
          's t o p',
          'S.T.O.P.',
          's-t-o-p',
          'st\u0301op',
          'stop\u0000',
          '\tstop\r\n',
        ],
        ...[
          'opt out',
          'opt-out',
          'OPT‑OUT',
          'opt_out',
          'opt  out!',
          'Opt - Out',
          'stop all',
          'STOP-ALL',
          'remove me',
          'No more',
          'no more please',
        ],
      ],
    ],
    [
      // Of a short text, the first word counts; and `please` changes nothing.
      'short texts',
      'opt-out',
      [
        ...[
          'STOP spring-sale',
          'STOP spring-sale-2026',
          'stop 36111',
          'Stop hello world',
          'stop-news',
          'unsubscribe me please',
        ],
        ...[
          'stop please',
          'please stop',
          'Please, STOP!',
          'stop pls',
          'arrêt svp',
          'stop bitte',
          'por favor baja',
          'END thanks',
        ],
        ...["stop s'il vous plaît", 'S’il te plaît, arrêtez', 'стоп, пожалуйста', '请 退订 谢谢', 'stop texting me'],
        ...[
          'STOP STOP STOP',
          'stop stop stop stop stop',
          'stop! unsubscribe! cancel! end!',
          'opt out of this',
          'stop\nstop',
        ],
        ...[
          'STOP\n> Your appointment is on 3 May. Reply STOP to opt out.',
          'Stop\n\n-- \nJane Doe, Riverside',
          'STOP\n_____________\nFrom: x',
        ],
      ],
    ],
    [
      'with the footer of a phone, or a please',
      'opt-out',
      [
        ...[
          'STOP\nSent from my phone',
          'STOP\n\nSent from my iPhone',
          'Stop Sent from my Galaxy',
          'stop\r\nGet Outlook for iOS',
          ...[
            'STOP\n\nส่งจาก iPhone ของฉัน',
            'Stop\n\nMit freundlichen Grüßen\nAda',
            'SТОР',
            'STOP\nDikirim dari iPhone saya',
          ],
        ],
        ...['Stopp\n\nVon meinem iPhone gesendet', 'arrêt\nEnvoyé de mon iPhone', 'BAJA\nEnviado desde mi Samsung'],
        ...['стоп\nОтправлено с iPhone', 'basta messaggi\nInviato da iPhone', 'stop\nVerzonden vanaf mijn iPhone'],
        ...[
          'STOP\n\nOn Tue, 3 Nov 2026 at 10:00, Riverside <a@b.example> wrote:\n> Hello',
          'stop\n退订\n发自我的iPhone',
        ],
        ...[
          'please stop texting me',
          'pls stop texting me thanks',
          'bitte abmelden von allem',
          'Please unsubscribe me from this',
        ],
      ],
    ],
    [
      'longer texts in other languages',
      'review',
      ['لا ترسل', '解約', 'lasst mich in Ruhe', 'sluta skicka', 'non voglio più', '不要再发了', '보내지 마'],
    ],
    ['words that are another word in some language', 'answer', ['đúng', 'Huy', 'tc', 'Bo Henti']],
    [
      'slips and curses',
      'review',
      [
        ...[
          'st0p',
          '5top',
          'quiero darme de baja',
          'ich möchte abgemeldet werden',
          'Désabonnez-moi',
          'отпиши',
          'delete me',
        ],
        ...['Stop\nby at three?', 'No\nstop'],
        ...['STOP1', 'STOPNOW', 'Stop2quit', 'stopit', 'STOPALLMESSAGES', 'END2', 'UNSUBSCRIBENOW', 'please stopnow'],
        ...['sotp', 'stpo', 'TSOP', 'sttooop', 'unsbuscribe', 'sotp texting me', 'abmedlen'],
        ...[
          'f*** off',
          'F**k you',
          'fuck off',
          'FUCKING stop it you lot of idiots',
          'sh*t',
          'piss off',
          'Verpiss dich!',
        ],
        ...['vete a la mierda', 'va te faire voir', 'vaffanculo', 'отвали, блядь', 'f off', 'go to hell'],
        ...[
          'stop by tomorrow',
          'please stop by tomorrow',
          'can you stop by tomorrow?',
          'bus stop',
          "please don't stop",
        ],
      ],
    ],
    [
      'words of opting in',
      'opt-in',
      [
        ...[
          'START',
          'start!',
          ' Ｓｔａｒｔ ',
          'unstop',
          'Begin',
          'RESUME',
          'revert',
          'NONARRET',
          'opt in',
          'OPT-IN',
          'optin',
        ],
        ...['start please', '开始', 'старт', 'démarrer', 'DEMARRER', 'başla', 'subscribe'],
      ],
    ],
    [
      'for a person to read',
      'review',
      [
        ...[
          "please don't stop",
          "don't stop",
          'don’t stop',
          'dont stop',
          'never stop!',
          'stop it, I will come',
          'non stop',
        ],
        ...[
          'Can you stop sending me messages every day',
          'I said STOP to you yesterday',
          'start stop',
          'KEYWORD STOP',
          '36111 STOP',
        ],
        ...[
          'how do I unsubscribe',
          'I want to opt out of all this',
          'please cancel all these texts',
          'no more messages from you please',
        ],
        ...[
          'leave me alone or I call my lawyer',
          'wrong number',
          'Delete my number!',
          'please lose my number',
          'Basta!',
          'Sorry, wrong number mate',
          'Who is this?',
          'not interested, thanks',
        ],
        ...[
          'bitte keine Nachrichten mehr schicken',
          'je veux me désabonner de tout',
          'no quiero recibir más',
          'не пишите мне',
          '请退订',
          '回复退订吧',
        ],
        ...['🛑', '🚫🚫', 'This is spam', 'Ich möchte mich abmelden', "I'd rather you stop, thanks"],
      ],
    ],
    [
      'answers',
      'answer',
      [
        ...[
          'no',
          'No.',
          'NO!!!',
          'nein',
          'non merci',
          'yes',
          'YES',
          'ok',
          '1',
          '5',
          '10/10',
          '👍',
          '',
          '   ',
          '?!',
          'oui',
          'si',
        ],
        ...[
          'cancel my order',
          'please cancel my appointment',
          'end of May',
          'end of the month is fine',
          'I quit smoking',
        ],
        ...[
          'the weekend',
          'stopover',
          'unstoppable',
          'cancellation',
          'endless',
          'I will come at 5',
          'Thanks!',
          'thank you',
        ],
        ...[
          'Sehr gut',
          'À la fin de la semaine',
          '明天来',
          'نعم',
          'Halten Sie das für möglich?',
          'starting at nine',
          'start at nine',
        ],
        ...[
          'When does it start',
          'I stopped there yesterday',
          'stopping',
          'step',
          'shop',
          'spot',
          'post',
          '*ok*',
          '**great**',
          'yes\nSent from my iPhone',
          ...['Thank you\nAda', 'Cancel\nmy order', 'No, más tarde', 'остановка', 'баланд', 's0 good', '5 tops'],
          'stopwatch',
          'weekend2',
          'begin with A',
          'I was in the hospital, and could not come',
          'Stockholm',
          'top',
          'acha',
          'stad',
        ],
      ],
    ],
  ])('%s: %s', (_, meaning, texts) => {
    for (const text of texts) expect(`${text}: ${read(text)}`).toBe(`${text}: ${meaning}`);
  });

  test('words of a project count as `stop` does', () => {
    const own = ['STOPNEWS', 'keine Werbung', 'Nö'];
    for (const text of [
      'stopnews',
      'Stop-News',
      'Keine Werbung!',
      'keine werbung bitte',
      'NO\u0308',
      'nö danke schön',
    ]) {
      expect(`${text}: ${read(text, own)}`).toBe(`${text}: opt-out`);
    }
    expect(read('nö danke schön')).toBe('answer');
    expect(read('nö, ich komme doch lieber', own)).toBe('review');
    expect(read('stop', own)).toBe('opt-out');
    expect(read('start', ['start'])).toBe('opt-out');
    // A word without a letter or digit would be found in every empty text.
    expect(read('', ['!!'])).toBe('answer');
  });

  test('every word of the lists does what its list says, and no word is in two of them', () => {
    const stop = [...WORDS.stop, ...WORDS.wholeStop];
    for (const word of stop) expect(`${word}: ${read(word)}`).toBe(`${word}: opt-out`);
    for (const word of WORDS.start) expect(`${word}: ${read(word)}`).toBe(`${word}: opt-in`);
    const folded = [...stop, ...WORDS.start].map(foldWord);
    expect(folded.filter((word, i) => folded.indexOf(word) !== i)).toEqual([]);
  });

  // A pattern that grows with the square of the text takes minutes here, and the test times out.
  test.each([
    ['stop '.repeat(100_000), 'review'],
    ['st'.repeat(200_000), 'answer'],
    [`${'-'.repeat(400_000)}stop`, 'answer'],
    ['\n>'.repeat(200_000), 'answer'],
  ])('a text of any length has a meaning (%#)', (text, meaning) => {
    expect(read(text)).toBe(meaning);
  });
});

describe('decoration', () => {
  const around = fc
    .array(
      fc.constantFrom(
        ' ',
        '.',
        '!',
        '"',
        '«',
        '»',
        '(',
        ')',
        '…',
        '🙏',
        '❤️',
        '\u200b',
        '\u202e',
        '\ufeff',
        '¡',
        '*',
        '\n',
      ),
      {
        maxLength: 6,
      },
    )
    .map((parts) => parts.join(''));
  const unseen = fc.constantFrom('', '', '\u200b', '\u200d', '\u00ad', '\u2066', '\ufe0f');
  const forms: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.normalize('NFD'),
    (text) => text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
    (text) => text.replaceAll(' ', '\u00a0 \u2003'),
  ];
  const texts = [
    'stop',
    'opt-out',
    'please stop',
    'end',
    'arrêt',
    'üyelikten çık',
    '退订',
    'стоп',
    'start',
    'no',
    'cancel my order',
  ];

  test('around a text, and inside its letters, changes nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts, "please don't stop", 'stop it, I will come', 'end of May', 'leave me alone, you'),
        around,
        around,
        fc.constantFrom(...forms),
        fc.array(unseen, { minLength: 40, maxLength: 40 }),
        (text, before, after, form, marks) => {
          const spelled = [...form(text)].map((letter, i) => letter + (marks[i] ?? '')).join('');
          expect(read(before + spelled + after)).toBe(read(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('every letter has one form, which to fold again does not change: also ẞ, which is no capital of ß', () => {
    const letters = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code));
    expect(letters.filter((letter) => foldWord(foldWord(letter)) !== foldWord(letter))).toEqual([]);
    expect(read('SCHEIẞE')).toBe(read('Scheiße'));
  });

  test('a text of any kind has one meaning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(['opt-out', 'opt-in', 'review', 'answer']).toContain(read(text));
      }),
      { numRuns: 500 },
    );
  });
});
