import { mappingOf } from '../content/check-values.ts';
import { textOf } from '../content/describe.ts';
import type { JsonObject } from '../model.ts';
import type { PreviewNode } from './preview-nodes.ts';

/** What an inbox shows of an email, its HTML in a frame of its own, and its text beside it. */
export function emailNode(from: string | null, content: JsonObject, text: string | null): readonly PreviewNode[] {
  const { subject, preheader, html, unsubscribe } = content;
  const { url, mailto, oneClick } = mappingOf(unsubscribe);
  const how = [textOf(url), textOf(mailto)].filter((one) => one !== '').join(', ');
  const facts = [
    ['From', from ?? ''],
    ['Subject', textOf(subject)],
    ['Preheader', textOf(preheader)],
    ['Unsubscribe', oneClick === true ? `${how} (one click)` : how],
  ].filter(([, value]) => value !== '');
  const head = facts.flatMap(([name = '', value = '']): readonly PreviewNode[] => [
    ['term', name],
    ['value', value],
  ]);
  const sides: PreviewNode[] = [];
  if (typeof html === 'string') {
    const size = `HTML, ${Math.ceil(Buffer.byteLength(html) / 1024)} KB; pictures are not loaded`;
    sides.push(['side', ['soft', size], ['frame', html]]);
  }
  if (text !== null) sides.push(['side', ['soft', 'Plain text'], ['plain', text]]);
  if (head.length === 0 && sides.length === 0) return [];
  return [['mail', ...(head.length === 0 ? [] : [['facts', ...head] as const]), ['sides', ...sides]]];
}
