import type { Json, JsonObject } from '../util/json.ts';
import type { ChannelEntry, Description, MessageElement, SeenMessage } from './channel.ts';
import type { ContentCheck } from './check-values.ts';
import {
  advise,
  charactersIn,
  checkFilled,
  type Findings,
  hasText,
  invalid,
  mappingOf,
  overLimit,
  shownText,
} from './check-values.ts';
import { isMailtoTarget, MAX_UNSUBSCRIBE_URL, unsubscribeUrl } from './email-content.ts';

/** Mail programs may cut a text that is longer than advised. */
export const EMAIL_LIMITS = {
  /** Octets of a header field: RFC 5322 allows 998 in a line. */
  subjectOctets: 998,
  /** Characters of a subject that inboxes show, at most. */
  subjectAdvised: 70,
  /** Characters after the subject that inboxes show, at most. */
  preheaderAdvised: 130,
  /** UTF-8 bytes of HTML that Gmail shows before it clips the rest. */
  htmlAdvised: 102 * 1024,
} as const;

/** `html` is the HTML itself, not its file. */
const checkEmail: ContentCheck = (content, text) => {
  const found: Findings = { channel: 'email', problems: [] };
  checkSubject(found, content['subject']);
  checkBody(found, content, text);
  checkPreheader(found, content);
  if (content['unsubscribe'] !== undefined) checkUnsubscribe(found, mappingOf(content['unsubscribe']));
  return found.problems;
};

function checkSubject(found: Findings, subject: Json | undefined): void {
  const at = '/subject';
  if (subject === undefined) invalid(found, at, 'The email has no subject.', 'Write one under content.subject.');
  checkFilled(found, at, subject);
  if (typeof subject !== 'string') return;
  // A line break would begin another header, chosen by the author of the value.
  if (CONTROL.test(subject)) {
    const hint = 'A subject is one line. The value of a column may hold the line break.';
    invalid(found, at, 'The subject has a line break or a control character.', hint);
  }
  if (ENCODED_WORD.test(subject)) {
    const hint = 'Write the text itself. The value of a column may hold it.';
    invalid(found, at, 'The subject holds an encoded word (=?...?=), which mail programs show as another text.', hint);
  }
  const octets = octetsIn(subject, EMAIL_LIMITS.subjectOctets);
  if (octets > EMAIL_LIMITS.subjectOctets) {
    const message = `The subject has ${octets} bytes; an email takes at most ${EMAIL_LIMITS.subjectOctets}.`;
    overLimit(found, at, message, 'Shorten it.');
    return;
  }
  adviseLength(found, at, subject, EMAIL_LIMITS.subjectAdvised, 'The subject');
}

function checkBody(found: Findings, content: JsonObject, text: string | null | undefined): void {
  const html = content['html'];
  const hasHtml = html === null || (typeof html === 'string' && hasText(html));
  if (!hasHtml && !hasText(text)) {
    const at = html === undefined ? '/text' : '/html';
    invalid(found, at, 'The email has neither HTML nor a text.', 'Write content.html, a template, or both.');
  }
  if (typeof html !== 'string') return;
  const octets = octetsIn(html, EMAIL_LIMITS.htmlAdvised);
  if (octets <= EMAIL_LIMITS.htmlAdvised) return;
  const message = `The HTML has ${Math.ceil(octets / 1024)} KB; Gmail shows the first 102 KB and hides the rest.`;
  advise(found, '/html', message, 'Shorten it, or put a part of it behind a link.');
}

function checkPreheader(found: Findings, content: JsonObject): void {
  const preheader = content['preheader'];
  if (preheader === undefined) return;
  if (content['html'] === undefined) {
    const hint = 'Write content.html too, or begin the text with it.';
    advise(found, '/preheader', 'The preheader goes into the HTML, and this email has none.', hint);
  }
  if (typeof preheader === 'string') {
    adviseLength(found, '/preheader', preheader, EMAIL_LIMITS.preheaderAdvised, 'The preheader');
  }
}

function checkUnsubscribe(found: Findings, unsubscribe: JsonObject): void {
  const { url, mailto, oneClick } = unsubscribe;
  if (url === undefined && mailto === undefined) {
    const hint = 'Write unsubscribe.url, unsubscribe.mailto, or both.';
    invalid(found, '/unsubscribe', 'The email does not say where one unsubscribes.', hint);
  }
  if (typeof url === 'string' && unsubscribeUrl(url) === null) {
    const hint = `It begins with https:// and has at most ${MAX_UNSUBSCRIBE_URL} characters, no spaces and no password.`;
    invalid(found, '/unsubscribe/url', 'The address to unsubscribe is not one that mail programs call.', hint);
  }
  if (typeof mailto === 'string' && !isMailtoTarget(mailto)) {
    const hint = 'One address, such as unsubscribe@riverside.example.';
    invalid(found, '/unsubscribe/mailto', 'The address to unsubscribe is not an email address.', hint);
  }
  if (oneClick === true && url === undefined) {
    const hint = 'Mail programs post to unsubscribe.url (RFC 8058).';
    invalid(found, '/unsubscribe/oneClick', 'One click needs an address to post to.', hint);
  }
}

function adviseLength(found: Findings, pointer: string, text: string, most: number, what: string): void {
  if (text.length <= most) return;
  const length = charactersIn(text);
  if (length > most) advise(found, pointer, `${what} has ${length} characters; inboxes show at most ${most} of them.`);
}

/** UTF-8 bytes; counted only where the text could have more than `limit`. */
function octetsIn(text: string, limit: number): number {
  return text.length * 3 <= limit ? text.length : Buffer.byteLength(text);
}

/** RFC 2047; mail programs are not strict about what is encoded, and some take blanks in it. */
const ENCODED_WORD = /=\?[^?]+\?[bq]\?[^?]*\?=/i;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

function describeEmail({ text, content }: SeenMessage): Description {
  const { subject, preheader, html, unsubscribe } = content;
  const { url, mailto, oneClick } = mappingOf(unsubscribe);
  const how = [shownText(url), shownText(mailto)].filter((one) => one !== '').join(', ');
  const elements: readonly MessageElement[] = [
    ...(subject === undefined ? [] : [fact('Subject', shownText(subject))]),
    ...(shownText(preheader) === '' ? [] : [fact('Preheader', shownText(preheader))]),
    ...(how === '' ? [] : [fact('Unsubscribe', oneClick === true ? `${how} (one click)` : how)]),
    ...(subject === undefined && html === undefined ? [] : [{ kind: 'space' } as const]),
    ...(typeof html === 'string' ? [{ kind: 'html', html } as const] : []),
    ...(text === null ? [] : [{ kind: 'text', text } as const]),
  ];
  return { on: 'inbox', elements };
}

function fact(name: string, value: string): MessageElement {
  return { kind: 'fact', name, value };
}

export const email: ChannelEntry = {
  label: 'Email',
  address: 'email',
  keys: ['subject', 'preheader', 'html', 'unsubscribe'],
  check: checkEmail,
  describe: describeEmail,
  reported: 'email mail smtp mailto',
  init: {
    label: 'email',
    template: `Hello {{first_name}},

your order {{order}} is ready. We are here until six.

See you soon!
`,
    yaml: `content:
  subject: "{{first_name}}, your order {{order}} is ready"
`,
    sender: 'email',
  },
};
