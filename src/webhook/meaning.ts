import type { ReplyMeaning, ReplyRules } from '../model.ts';
import { onDemand } from '../util/on-demand.ts';

/**
 * Words with which people opt out, and opt in. Case, accents, spaces and hyphens do not count (`foldText`). English
 * words are those that US law names for every sender (47 CFR 64.1200, since April 2025), and those that providers act
 * upon themselves (docs/reference/payloads.md has both).
 */

/** These opt out as a whole text, and as the first word of a short one: `STOP please`, `STOP spring-sale`. */
export const STOP_WORDS: readonly string[] = [
  ...words('stop, stop all, opt out, opt me out, unsubscribe, unsubscribe me, unsub'),
  // As people misspell it.
  ...words('unsuscribe, unsubcribe, unsubscrib, unsubsribe, stoppp'),
  ...words('arrêt, arrête, arrêtez, arrêter, arrett, désabonner, désabonnement, désinscrire, désinscription'),
  ...words('stopp, abmelden, abmeldung, abbestellen, austragen, stoppen'),
  ...words('detener, desuscribir, desuscribirse, darme de baja, dar de baja'),
  ...words('descadastrar, descadastre, cancelar inscrição'),
  ...words('disiscrivi, disiscrivimi, disiscrizione, cancellami'),
  ...words('afmelden, uitschrijven'),
  ...words('stoppa, avregistrera, avmeld, avslutt, afmeld, frameld'),
  ...words('lopeta, peru tilaus'),
  ...words('zatrzymaj, wypisz, rezygnuję, odhlásit, leiratkozás, leiratkozom, leiratkozni'),
  ...words('dezabonare, dezabonez, odjava, odjavi, отписване, одјава'),
  ...words('стоп, остановить, отписаться, отписка, отпишите, відписатися, відписка'),
  ...words('στοπ, διαγραφή, απεγγραφή'),
  ...words('üyelikten çık, abonelikten çık, durdur'),
  ...words('הסר, הסירו, הסרה'),
  ...words('إلغاء الاشتراك, أوقف, إيقاف'),
  ...words(
    '退订, 退訂, 取消订阅, 取消訂閱, 停止订阅, 停止訂閱, 停止发送, 停止發送, 拒收, 配信停止, ストップ, 수신거부',
  ),
  ...words('unreg, berhenti, huỷ đăng ký, từ chối, لغو11'),
];

/** These opt out only as a whole text, because other sentences begin with them: `cancel my order`, `end of May`. */
export const WHOLE_STOP_WORDS: readonly string[] = [
  ...words('cancel, end, quit, revoke, remove, remove me, halt, td, leave me alone'),
  ...words(
    'cancel all, end all, quit all, cancel subscription, end subscription, no more, no more messages, no more texts',
  ),
  ...words('aufhören, aufhoeren, kündigen, keine nachrichten mehr, keine sms mehr'),
  ...words('baja, darse de baja, salir, cancelar, parar, no más mensajes, plus de messages, plus de sms, résilier'),
  ...words('sair, remover, pare'),
  ...words('ferma, annulla, annullare, cancella, basta messaggi, opzeggen, geen berichten meer'),
  ...words('sluta, avsluta, stans, poistu, peruuta, anuluj, zrušit, atura'),
  ...words('ret, iptal, çıkış, отмена, διακοπή'),
  ...words('הפסק, توقف, إلغاء, قف, لغو'),
  ...words('停止, 停止してください, 取消, 解除, 退会, 退會, 중지, 그만, 해지, หยุด, ยกเลิก, बंद, बंद करो, रोकें, रुकें'),
  ...words('itigil, ihinto, tigil, staak, atsisakau, atteikties, loobun, poista, ondoa, ndalo, 거부'),
  ...words('বন্ধ, বন্ধ করুন, بند کرو, நிறுத்து, ఆపు, બંધ'),
];

/** These opt in again, as a whole text only. `YES` is not among them: it answers too many questions. */
export const START_WORDS: readonly string[] = [
  ...words('start, unstop, begin, resume, revert, restart, subscribe, resubscribe, opt in, opt me in, start all'),
  ...words('nonarret, démarrer, reprendre, réabonner, anmelden, starten, aanmelden'),
  ...words('iniciar, comenzar, reanudar, suscribir, começar, retomar, inizia, iscrivimi, riprendi'),
  ...words('starta, börja, aloita, zacznij, wznów, старт, начать, возобновить, подписаться, έναρξη, başla'),
  ...words('ابدأ, اشترك, התחל, 订阅, 訂閱, 开始, 開始, 再開, 시작'),
];

/** Around one of the words above they change nothing: `please stop`. */
const POLITE_WORDS: readonly string[] = [
  ...words('please, pls, plz, thanks, thank you, thx, ty, now, bitte, danke, svp, stp, merci, por favor, gracias'),
  ...words("s'il vous plaît, s'il te plaît, obrigado, obrigada, per favore, per cortesia, grazie, alstublieft, aub"),
  ...words('tack, takk, tak, kiitos, proszę, dziękuję, prosím, děkuji, kérem, köszönöm, mulțumesc, hvala, molim'),
  ...words('пожалуйста, спасибо, будь ласка, παρακαλώ, ευχαριστώ, lütfen, teşekkürler, בבקשה, תודה, شكرا'),
  ...words('请, 請, 谢谢, 謝謝, お願いします, ください, 부탁합니다, tolong, terima kasih'),
];

/** Wordings of longer texts that may mean an opt-out: a person has to read them. */
const REVIEW_WORDINGS: readonly string[] = [
  ...words(
    'no more messages, no more texts, no more emails, no more sms, remove me, take me off, opt me out, remove my number, delete my number, delete my data',
  ),
  ...words(
    'leave me alone, lose my number, basta, not interested, wrong number, wrong person, do not contact, dont contact, do not text',
  ),
  ...words('dont text, do not message, dont message, do not email, dont email, do not write, who is this, who are you'),
  ...words('spam, harassment, report you, gdpr, lawyer, dont want these, cease and desist'),
  ...words('nicht mehr schreiben, keine nachrichten, keine sms, kein interesse, falsche nummer, wer sind sie, dsgvo'),
  ...words('ne plus recevoir, plus de messages, plus de sms, pas intéressé, mauvais numéro, rgpd'),
  ...words('no quiero recibir, no me interesa, número equivocado, no más mensajes, borrar mi, quién es'),
  ...words('não quero receber, número errado, não tenho interesse, non voglio ricevere, numero sbagliato'),
  ...words('keine werbung, nicht belästigen, no quiero más, no más mensajes, não quero mais, delete me, lösch mich'),
  ...words('supprimez moi, ne me contactez, laissez moi, déjeme en paz, lasciatemi, не беспокоить, не присылайте'),
  ...words('geen interesse, verkeerd nummer, inte intresserad, fel nummer, nie chcę, не пишите, больше не'),
];

/** Beginnings of words about an opt-out that no list has: `abgemeldet`, `désabonnez-moi`, `отпиши`. */
const STEMS: readonly string[] = [
  ...words(
    'unsubscri, abgemeld, abbestell, désabonn, désinscri, desuscri, descadastr, disiscri, afgemeld, uitgeschrev',
  ),
  ...words(
    'uitschrij, avprenum, avanmäl, avregistr, rezygn, wypisać, wypisz, odhlás, odhlaš, odjav, leiratkoz, dezabon',
  ),
  ...words('отпис, отпиш, останови, відпис, отказ, διαγρα, διέγρα, להסיר'),
];

/** Beginnings of curses: their senders hardly want more messages. A censored word (`f***`) counts as well. */
const CURSES: readonly string[] = [
  ...words('fuck, fuk, fck, motherf, bullshit, shit, bitch, asshole, arsehole, bastard, cunt, dickhead, wanker, twat'),
  ...words(
    'arschloch, scheiss, scheiß, verpiss, wichser, connard, merde, salope, enculé, putain, mierda, cabrón, joder',
  ),
  ...words('pendejo, gilipollas, caralho, foda, merda, stronz, cazzo, vaffan, fanculo, klootzak, kanker, oprotten'),
  ...words('javla, faen, helvete, vittu, haista, kurw, spierdal, pierdol, siktir, хуй, хуе, бляд, заеб, отъеб, пизд'),
];

const CURSING: readonly string[] = [
  ...words('f off, piss off, bugger off, sod off, fick dich, go to hell, screw you, shut up, leck mich, get lost'),
  ...words('halt die fresse, ta gueule, va te faire, hijo de puta, a la mierda, vai se, rot op, пошел на, иди на'),
];

/** Words that mean an opt-out beside one of `WHOLE_STOP_WORDS`: `please cancel all these texts`. */
export const MESSAGE_WORDS: readonly string[] = [
  ...words('message, messages, messaging, text, texts, texting, sms, email, emails, mail, mails, mailing, newsletter'),
  ...words('subscription, marketing, list, notifications, alerts, reminders, contact, contacting, nachrichten'),
  ...words('mensajes, mensagens, messaggi, berichten, meldinger, meddelanden, viestit, wiadomości, сообщения'),
];

function words(list: string): readonly string[] {
  return list.split(', ');
}

/** The words of a text in the form that is compared: folded, without decoration. */
interface FoldedText {
  /** Runs of letters and digits. `opt-out` is two of them. */
  readonly tokens: readonly string[];
  /** The number of each token's word: `opt-out` and `spring-sale-2026` are one word each. */
  readonly words: readonly number[];
}

/** Longer than any opt-out; the rest of the text is ignored. */
const MAX_CHARACTERS = 2_000;

/**
 * Reduces a text to what matters for its meaning: full-width and other forms of letters (NFKC) are unified; invisible
 * characters (zero-width, bidirectional, soft hyphens, variation selectors), accents, and everything that is neither
 * letter nor digit are removed. Case is folded without a language, so that the Turkish `İ` and `ı` are an i.
 */
function foldText(text: string): FoldedText {
  const tokens: string[] = [];
  const words: number[] = [];
  const folded = foldLetters(text.slice(0, MAX_CHARACTERS));
  for (const [number, word] of folded.split(/[^\p{L}\p{N}\p{M}‐_-]+/u).entries()) {
    // Hyphens join the parts of a word.
    for (const token of word.split(/[‐_-]+/u)) {
      if (token === '') continue;
      tokens.push(token);
      words.push(number);
    }
  }
  return { tokens, words };
}

/** The same for a word of a list, with its parts joined: `opt-out`, `opt out` and `optout` are one. */
export function foldWord(word: string): string {
  return foldText(word).tokens.join('');
}

export function foldLetters(text: string): string {
  // NFKC would make a space with an accent of the acute that some type for an apostrophe.
  const seen = text.replaceAll('´', "'").normalize('NFKC').replace(UNSEEN, '');
  // Within a word: `don't` and `dont` are one.
  const bare = seen.replace(/(?<=[\p{L}\p{N}])['’‘`ʼ]+(?=[\p{L}\p{N}])/gu, '');
  // First to capitals, so that `ß` is `ss` and a dotless `ı` an `i`; neither depends on the locale of the process.
  const latin = bare.replace(/[\p{L}\p{N}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) ? word.replace(LOOKALIKES, (letter) => LATIN[LIKE.indexOf(letter)] ?? letter) : word,
  );
  const oneCase = latin.toUpperCase().toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return oneCase.replace(SPELLINGS, (letter) => SPELLED[letter] ?? letter);
}

/** Letters that only look Latin, in a word with some that are: `SТОР`. */
const LIKE = 'АаВЕеЅѕІіКМНОоРрСсТтУуХхΑΒΕΖΗΙΚΜΝΟοΡΤΥΧ';
const LATIN = 'AaBEeSsIiKMHOoPpCcTtYyXxABEZHIKMNOoPTYX';
const LOOKALIKES = new RegExp(`[${LIKE}]`, 'gu');

/** Format characters, variation selectors, the frame of a keycap, the line that stretches Arabic words. */
const UNSEEN = /\p{Cf}|\u{34f}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]|\u{20e3}|\u{640}/gu;

/** Accents of Latin, Greek and Cyrillic, vowel signs of Arabic and Hebrew: elsewhere, marks are letters. */
const ACCENTS = /[\u{300}-\u{36f}\u{591}-\u{5c7}\u{610}-\u{61a}\u{64b}-\u{65f}\u{670}\u{6d6}-\u{6ed}]/gu;

/** Letters that Unicode does not treat as accented ones, and two ways to write one letter. */
const SPELLED: Readonly<Record<string, string>> = {
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ħ: 'h',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
};
const SPELLINGS = new RegExp(`[${Object.keys(SPELLED).join('')}]`, 'gu');

/**
 * The meaning of a reply, by words only and without guessing:
 *
 * 1. A text of only opt-out words opts out. So does a short text (three words) whose first word is clear: `STOP
 * spring-sale`, and a text whose first line is such a word alone. A `please` around them changes nothing.
 * 2. A text that is only an opt-in word opts in.
 * 3. A text that contains such a word, or a wording that may mean it, is for a person to read: `please don't stop`. So
 * is a short text with a slip in the word (`STOPNOW`, `sotp`), and a curse.
 * 4. All others are answers: `no`, `cancel my order`, `end of May`.
 * @param text as it arrived; text after 2,000 characters is ignored
 */
export function meaningOf(text: string, { stopWords }: Pick<ReplyRules, 'stopWords'>): ReplyMeaning {
  const { clear, first } = wordsOf(stopWords);
  const [line = '', below] = withoutQuotation(text)
    .trimStart()
    .split(/[\r\n]+/u, 2);
  // Whatever a phone, a mail program or the person writes below it.
  const { tokens: alone } = withoutPoliteness(foldText(line));
  if (below !== undefined && alone.length > 0 && !VISIT.test(below) && consistsOf(alone, first)) return 'opt-out';
  const folded = foldText(withoutQuotation(text));
  const { tokens } = folded;
  if (tokens.length === 0) return STOP_SIGNS.test(text) ? 'review' : 'answer';
  const bare = withoutPoliteness(folded);
  if (bare.tokens.length > 0 && consistsOf(bare.tokens, clear)) return 'opt-out';
  if (beginsShortWith(bare, first)) return 'opt-out';
  if (known().start.has(bare.tokens.join(''))) return 'opt-in';
  const mayMeanIt =
    isForReview(tokens, first) ||
    isSlip(bare.tokens, first) ||
    // `f***`, `sh*t`; not `*stop*`, which is bold.
    /(?<![\p{L}*])(?:(?:\p{L}|fu|sh|cu|bi)\*{2,}|\p{L}{1,3}\*+\p{L})/iu.test(
      foldLetters(text.slice(0, MAX_CHARACTERS)),
    );
  return mayMeanIt ? 'review' : 'answer';
}

/** Characters used instead of words. */
const STOP_SIGNS = /[🛑⛔🚫🖕]/u;

interface OptOutWords {
  /** These opt out as a whole text. */
  readonly clear: ReadonlySet<string>;
  /** Some of these do so as a first word too. */
  readonly first: ReadonlySet<string>;
}

const fold = (list: readonly string[]): ReadonlySet<string> => new Set(list.map(foldWord).filter((one) => one !== ''));

/** Folded when the first reply is read, which most commands never do. */
const known = onDemand(() => {
  const first = fold(STOP_WORDS);
  return {
    first,
    clear: new Set([...first, ...fold(WHOLE_STOP_WORDS)]) as ReadonlySet<string>,
    start: fold(START_WORDS),
    polite: fold(POLITE_WORDS),
    messages: fold(MESSAGE_WORDS),
    /** As they occur in a text, with a space around each token. */
    wordings: [...REVIEW_WORDINGS, ...CURSING].map((wording) => spaced(foldText(wording).tokens)),
    beginnings: [...fold([...CURSES, ...STEMS])],
  };
});

/** Words of a project count like `stop`. Its rules are one object as long as it runs. */
const OWN = new WeakMap<readonly string[], OptOutWords>();

function wordsOf(stopWords: readonly string[]): OptOutWords {
  if (stopWords.length === 0) return known();
  let found = OWN.get(stopWords);
  if (found === undefined) {
    const own = fold(stopWords);
    found = { clear: new Set([...known().clear, ...own]), first: new Set([...known().first, ...own]) };
    OWN.set(stopWords, found);
  }
  return found;
}

/** Tokens of the longest word in a list: `s'il vous plaît`, `no more messages`. */
const MOST_TOKENS = 4;

function withoutPoliteness({ tokens, words }: FoldedText): FoldedText {
  const { polite } = known();
  let [from, to] = [0, tokens.length];
  for (let taken = true; taken; ) {
    taken = false;
    for (let count = Math.min(MOST_TOKENS, to - from); count > 0; count--) {
      if (polite.has(tokens.slice(from, from + count).join(''))) from += count;
      else if (polite.has(tokens.slice(to - count, to).join(''))) to -= count;
      else continue;
      taken = true;
      break;
    }
  }
  return { tokens: tokens.slice(from, to), words: words.slice(from, to) };
}

/** `stop`, `s t o p`, `STOP STOP STOP`: one word of the list, with any spacing, or several. */
function consistsOf(tokens: readonly string[], list: ReadonlySet<string>): boolean {
  if (list.has(tokens.join(''))) return true;
  return tokens.length <= MOST_REPEATED && tokens.every((token) => list.has(token));
}

/** A person reviews a text with more repetitions. */
const MOST_REPEATED = 20;

/** `opt out of this`, `STOP spring-sale-2026`: after the word, at most two more. `Stop by` is a visit. */
function beginsShortWith({ tokens, words }: FoldedText, list: ReadonlySet<string>): boolean {
  if (tokens[0] === 'stop' && VISIT.test(tokens[1] ?? '')) return false;
  for (let count = 1; count <= Math.min(MOST_TOKENS, tokens.length); count++) {
    if (!list.has(tokens.slice(0, count).join(''))) continue;
    const [last, rest] = [words[count - 1], words.slice(count)];
    if (new Set(rest.filter((word) => word !== last)).size <= 2) return true;
  }
  return false;
}

const VISIT = /^(?:by|over)\b/i;

function isForReview(tokens: readonly string[], first: ReadonlySet<string>): boolean {
  for (let i = 0; i < tokens.length; i++) {
    for (let count = 1; count <= Math.min(MOST_TOKENS, tokens.length - i); count++) {
      const word = tokens.slice(i, i + count).join('');
      if (first.has(word) || isUnspaced(word, first)) return true;
    }
  }
  const text = spaced(tokens);
  const { wordings, beginnings, clear, messages } = known();
  if (wordings.some((wording) => text.includes(wording))) return true;
  if (tokens.some((token) => beginnings.some((start) => token.startsWith(start)))) return true;
  return tokens.some((token) => clear.has(token)) && tokens.some((token) => messages.has(token));
}

/** Whether the first word of a short text is an opt-out word with something at its end, or with two letters swapped. */
function isSlip(tokens: readonly string[], first: ReadonlySet<string>): boolean {
  const [token = ''] = tokens;
  if (tokens.length > MOST_SLIP_TOKENS || token.length < SHORTEST_SLIP) return false;
  for (const word of first) {
    if (word.length < SHORTEST_SLIP) continue;
    if (token.startsWith(word) && !ORDINARY.test(token)) return true;
    if (onceEach(token) === onceEach(word) || isSwapped(token, word)) return true;
  }
  if (first.has(token.replaceAll(DIGIT_LETTERS, (digit) => (digit === '0' ? 'o' : 's')))) return true;
  return WITH_DIGITS.test(token) && known().clear.has(token.replace(WITH_DIGITS, ''));
}

const MOST_SLIP_TOKENS = 3;
const SHORTEST_SLIP = 4;
const ORDINARY = /^stop(?:s|p?ed|p?ers?|p?ing|pages?|overs?|watch|gap|lights?|cock)$/;
const WITH_DIGITS = /\d+$/;
const DIGIT_LETTERS = /[05]/g;

/** `sttooop` as `stop`. */
function onceEach(word: string): string {
  return word.replace(/(.)\1+/gu, '$1');
}

/** `sotp`, `stpo`. */
function isSwapped(token: string, word: string): boolean {
  if (token.length !== word.length) return false;
  const at = [...token].findIndex((letter, i) => letter !== word[i]);
  const [a = '', b = ''] = [token[at], token[at + 1]];
  return at >= 0 && `${token.slice(0, at)}${b}${a}${token.slice(at + 2)}` === word;
}

/** Chinese, Japanese and Thai put no space between words. */
function isUnspaced(token: string, list: ReadonlySet<string>): boolean {
  if (!UNSPACED.test(token)) return false;
  for (const word of list) if (UNSPACED.test(word) && token.includes(word)) return true;
  return false;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]/u;

function spaced(tokens: readonly string[]): string {
  return ` ${tokens.join(' ')} `;
}

/** A reply may quote the message that it answers, and have a signature, or the footer of a phone. */
function withoutQuotation(text: string): string {
  const at = text.search(quotation());
  return at > 0 && /[\p{L}\p{N}]/u.test(text.slice(0, at)) ? text.slice(0, at) : text;
}

/** Phones and mail programs write these below a text. */
const FOOTERS: readonly string[] = [
  ...words('sent from, sent via, sent using, sent with, sent on, get outlook for, von meinem, gesendet von'),
  ...words('gesendet mit, diese nachricht wurde von meinem, holen sie sich outlook, envoyé de, envoyé à partir'),
  ...words(
    'télécharger outlook, enviado de, enviado do, enviado a partir, enviado pelo, mandado desde, obtener outlook',
  ),
  ...words(
    'obter o outlook, inviato da, scarica outlook, verzonden vanaf, verzonden met, verzonden via, verstuurd vanaf',
  ),
  ...words(
    'skickat från, sendt fra, lähetetty, wysłane z, wysłano z, odesláno z, odoslané z, trimis de pe, отправлено с',
  ),
  ...words(
    "отправлено из, надіслано з, στάλθηκε από, iphoneから送信, iphone'umdan, 发自我的, 發自我的, 從我的, 从我的",
  ),
  ...words('나의 iphone, 내 iphone, أُرسلت من, الإرسال من, נשלח מ'),
];

/** Those of them that are clear on the line of the text too. */
const SHORT_FOOTERS = words(
  'sent from my, get outlook for, von meinem iphone, envoyé de mon, enviado desde mi, inviato da iphone',
);

const quotation = onDemand(
  () =>
    new RegExp(
      `\\r?\\n[ \\t]*(?:>|-- ?(?:\\r?\\n|$)|_{5,}|-{5,}|${FOOTERS.join('|')})|\\s(?:${SHORT_FOOTERS.join('|')})` +
        '|\\r?\\n[^\\r\\n]{1,200}(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef)[^\\r\\n]{0,100}:',
      'iu',
    ),
);
