import { html } from '../../util/escape.ts';
import { type Content, fixed } from './layout.ts';

/** A page that says one thing: that something is not there, or why it could not be done. */
export function messagePage(status: number, title: string, sentences: readonly string[]): Content {
  return {
    title,
    status,
    parts: [
      fixed(
        'message',
        html`<h1>${title}</h1>
${sentences.map(
  (text) => html`<p>${text}</p>
`,
)}<p><a href="/">All runs</a></p>`,
      ),
    ],
  };
}
