import type { Json } from '../model.ts';
import { advise, checkLength, type Findings, invalid, nameOf } from './check-values.ts';

/** Characters of an address; a few providers take only 2,000. */
export const MAX_URL = 2048;

/** The address of an image, video or document: https, because the provider fetches it from a public server. */
export function checkMediaUrl(found: Findings, pointer: string, value: Json | undefined): void {
  checkUrl(found, pointer, value, /^https:\/\//i, 'an https address', 'Media lie where everybody can fetch them.');
}

/** The address of a page that a button opens. */
export function checkPageUrl(found: Findings, pointer: string, value: Json | undefined): void {
  checkUrl(found, pointer, value, /^https?:\/\//i, 'a web address', 'Write an address that begins with https://');
}

function checkUrl(
  found: Findings,
  pointer: string,
  value: Json | undefined,
  scheme: RegExp,
  wanted: string,
  hint: string,
): void {
  if (typeof value !== 'string') return;
  checkLength(found, pointer, value, MAX_URL);
  const fault = faultOf(value, scheme, wanted);
  if (fault !== null) invalid(found, pointer, `${nameOf(pointer)} ${fault}.`, hint);
}

function faultOf(url: string, scheme: RegExp, wanted: string): string | null {
  if (!/\S/.test(url)) return 'is empty';
  // URL parsers remove tabs and line breaks, but what is sent still has them.
  if (SPACE.test(url)) return 'has a space or a control character';
  return scheme.test(url) && URL.canParse(url) ? null : `is not ${wanted}`;
}

/** Files that the messaging app is known not to show; how large a file is cannot be seen from here. */
export function adviseMediaType(
  found: Findings,
  pointer: string,
  value: Json | undefined,
  kind: 'image' | 'video',
): void {
  if (typeof value !== 'string') return;
  const ending = NOT_SHOWN[kind].exec(value)?.[1];
  if (ending === undefined) return;
  const message = `${nameOf(pointer)} is a .${ending.toLowerCase()} file, which messaging apps do not take as ${kind}.`;
  advise(found, pointer, message, kind === 'image' ? 'Use a JPEG or PNG file.' : 'Use an MP4 or 3GP file.');
}

const SPACE = /[\s\p{Cc}]/u;
// An ending counts only in the path: there are domains named .mov.
const NOT_SHOWN = {
  image: /^https:\/\/[^/?#]+\/[^?#]*\.(gif|webp|svg|bmp|tiff?|heic|avif|mp4|pdf)(?:[?#]|$)/i,
  video: /^https:\/\/[^/?#]+\/[^?#]*\.(mov|avi|webm|mkv|wmv|gif|jpe?g|png|pdf)(?:[?#]|$)/i,
} as const;
