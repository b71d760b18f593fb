import { codePointOf } from '../util/escape.ts';
import type { Json } from '../util/json.ts';
import { onDemand } from '../util/on-demand.ts';
import type { ChannelEntry, Description, SeenMessage } from './channel.ts';
import type { ContentCheck } from './check-values.ts';
import { advise, charactersIn, checkFilled, type Findings, invalid, overLimit, shownText } from './check-values.ts';

export const VOICE_LIMITS = {
  /** Characters of a text that speech synthesis takes. */
  text: 1400,
  repeat: { min: 1, max: 5 },
  /** Digits in a row that are read as one number: years are, and codes should not be. */
  digitsInRow: 4,
} as const;

const WORDS_PER_SECOND = 2.5;

const checkVoice: ContentCheck = (content, text) => {
  const found: Findings = { channel: 'voice', problems: [] };
  checkLanguage(found, content['language']);
  checkFilled(found, '/voice', content['voice']);
  const { repeat = null } = content;
  const { min, max } = VOICE_LIMITS.repeat;
  const isCount = typeof repeat === 'number' && Number.isInteger(repeat) && repeat >= min && repeat <= max;
  if (repeat !== null && !isCount)
    invalid(found, '/repeat', `"repeat" is ${JSON.stringify(repeat)}; a text is spoken ${min} to ${max} times.`);
  if (text !== null) checkSpoken(found, text ?? '');
  return found.problems;
};

/** In whole seconds, at 2.5 words a second; digits one by one. Voices differ by a third. */
export function spokenSeconds(text: string, repeat = 1): number {
  return Math.ceil((wordsIn(text) * repeat) / WORDS_PER_SECOND);
}

function wordsIn(text: string): number {
  const withoutSpaces =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
  if (!withoutSpaces.test(text)) return text.match(/\p{Nd}|[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*/gu)?.length ?? 0;
  let words = 0;
  for (const { segment, isWordLike } of segmenter().segment(text)) {
    if (isWordLike === true) words += segment.match(/\p{Nd}/gu)?.length ?? 1;
  }
  return words;
}

function checkLanguage(found: Findings, language: Json | undefined): void {
  if (typeof language !== 'string' || isLanguageTag(language)) return;
  const hint = language.includes('_')
    ? `Write it with hyphens: ${language.replaceAll('_', '-')}`
    : 'For example: en-GB';
  invalid(found, '/language', `${JSON.stringify(language)} is not a BCP 47 language tag.`, hint);
}

function isLanguageTag(tag: string): boolean {
  try {
    // `und` is a tag for a language that was not said.
    return !new Intl.Locale(tag).baseName.startsWith('und');
  } catch {
    return false;
  }
}

function checkSpoken(found: Findings, text: string): void {
  if (!/[\p{L}\p{N}]/u.test(text)) {
    invalid(found, '/text', 'The text has nothing that can be spoken.', 'Give it a text in every row.');
    return;
  }
  if (text.length > VOICE_LIMITS.text) {
    const length = charactersIn(text);
    const message = `The text has ${length} characters; voice takes at most ${VOICE_LIMITS.text}.`;
    if (length > VOICE_LIMITS.text) overLimit(found, '/text', message, `Shorten it by ${length - VOICE_LIMITS.text}.`);
  }
  for (const { pattern, what, hint } of unspeakable()) {
    const hit = pattern.exec(text)?.[0];
    if (hit === undefined) continue;
    const cut = hit.length > 40 ? `${hit.slice(0, 40).toWellFormed()}...` : hit;
    const shown = /^[\p{C}\p{Z}]/u.test(hit) ? codePointOf(hit) : cut;
    advise(found, '/text', `The text has ${what} (${shown}).`, hint);
  }
}

/** Made with the first voice message: a pattern with classes of Unicode takes 0.1 ms to make. */
const unspeakable = onDemand(() => [
  {
    pattern: /(?:https?:\/\/|\bwww\.)\S{1,200}/i,
    what: 'an address, which is spelt out or left out when it is spoken',
    hint: 'Say where to find it, or send it as SMS.',
  },
  {
    // Signs that are letters to a voice (©, ®, ™) and digits are pictographs too.
    pattern: /(?![©®™])[\p{Extended_Pictographic}\p{Regional_Indicator}]/u,
    what: 'an emoji, which cannot be spoken',
    hint: 'Leave it out, or write what it means.',
  },
  {
    pattern:
      /(?![\t\n\r°©®™\u00ad\p{Extended_Pictographic}\p{Regional_Indicator}]|\ufe0f|\u200d)[\p{C}\p{So}\p{Sk}<>{}[\]|\\^~_*=#\ufffd]/u,
    what: 'a character that cannot be spoken, or is read out as its name',
    hint: 'Leave it out, or write the word for it. Markup is not taken for markup.',
  },
  {
    pattern: new RegExp(`\\p{Nd}{${VOICE_LIMITS.digitsInRow + 1},40}`, 'u'),
    what: 'digits in a row, which may be read as one large number',
    hint: 'Put spaces or commas between the digits of a code or a phone number: 1, 2, 3, 4, 5, 6.',
  },
]);

const segmenter = onDemand(() => new Intl.Segmenter('en', { granularity: 'word' }));

/** `Spoken 2 times, in en-GB, by Emma, about 14 seconds:` and the text. */
function describeVoice({ text, content }: SeenMessage): Description {
  const { language, voice: name, repeat } = content;
  const times = typeof repeat === 'number' ? repeat : 1;
  const seconds = spokenSeconds(text ?? '', times);
  const facts = [
    times === 1 ? 'Spoken once' : `Spoken ${times} times`,
    ...(shownText(language) === '' ? [] : [`in ${shownText(language)}`]),
    ...(shownText(name) === '' ? [] : [`by ${shownText(name)}`]),
    ...(text === null ? [] : [`about ${seconds} second${seconds === 1 ? '' : 's'}`]),
  ];
  const note = { kind: 'note', text: `${facts.join(', ')}:` } as const;
  return { on: 'call', elements: text === null ? [note] : [note, { kind: 'text', text }] };
}

export const voice: ChannelEntry = {
  label: 'Voice',
  address: 'msisdn',
  keys: ['language', 'voice', 'repeat'],
  instead: { subject: 'Say it in the text.' },
  check: checkVoice,
  describe: describeVoice,
  reported: 'voice call phonecall tts voicecall',
  init: {
    label: 'voice call',
    template: 'Hello {{first_name}}. Your order {{order}} is ready. See you soon!\n',
    yaml: `content:
  language: en-GB
  repeat: 2
`,
    sender: 'number',
  },
};
