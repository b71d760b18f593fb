import { Html, html } from '../../util/escape.ts';
import { KINDS, type PreviewNode } from './nodes.ts';

/**
 * A message for pages without scripts. Shows an email's text instead of its HTML, which only a browser can sanitize.
 * @param instead - shown in place of the HTML of an email
 */
export function nodeHtml(node: PreviewNode, instead: string): Html {
  if (typeof node === 'string') return html`${node}`;
  const [kind, ...children] = node;
  if (kind === 'frame') return html`<p class="soft">${instead}</p>`;
  const { tag, style } = KINDS[kind];
  const start = style === '' ? `<${tag}>` : `<${tag} class="${style}">`;
  return new Html(`${start}${children.map((child) => nodeHtml(child, instead).markup).join('')}</${tag}>`);
}

export const MESSAGE_COLOURS = `:root{--rim:#c4ccd6;--chosen-line:#2f6fb5;--bubble:#e9eef5;--phone:#f5f7fa;--odd:#ffe08a;--odd-ink:#3d2c00}
@media (prefers-color-scheme:dark){:root{--rim:#4a5664;--chosen-line:#6fa8e8;--bubble:#26313e;--phone:#1a212a;--odd:#6b5310;--odd-ink:#fff3cf}}`;

/** Other pages than the preview nest it, because its names are short. */
export const MESSAGE_STYLE = `.step{margin:1rem 0;padding:0;border:0;background:none}
.step-name{margin:0 0 .5rem;font-size:.875rem;color:var(--soft);font-weight:600}
.phone{max-width:23rem;padding:.7rem .9rem 1.1rem;border:1px solid var(--rim);border-radius:2rem;background:var(--phone);box-shadow:inset 0 0 0 5px var(--paper),0 0 0 4px var(--rim)}
.shown>.step:first-child .phone{min-height:22rem}
.phone::before{content:"";display:block;width:5rem;height:.3rem;margin:.15rem auto .6rem;border-radius:1rem;background:var(--rim)}
.sender{margin:0 -.35rem .9rem;padding-bottom:.5rem;border-bottom:1px solid var(--line);font-size:.875rem;font-weight:600;text-align:center}
.bubble,.card,.sheet{padding:.65rem .85rem;border-radius:1rem;background:var(--bubble);overflow-wrap:anywhere}
.bubble{width:fit-content;max-width:100%;border-bottom-left-radius:.25rem}
.text,.plain{white-space:pre-wrap;overflow-wrap:anywhere}
.text,.plain,.title,.foot,.label{unicode-bidi:plaintext}
.bubble>*+*,.card>*+*{margin-top:.45rem}
.cut{unicode-bidi:isolate;margin:0 .25rem;padding:0 .35rem;border-radius:.3rem;background:var(--paper);color:var(--soft);border:1px solid var(--line);font-size:.6875rem;line-height:1.5;white-space:nowrap;user-select:none;vertical-align:.1em}
.odd{background:var(--odd);color:var(--odd-ink);border-radius:.15rem;box-shadow:0 0 0 1px var(--odd)}
.title{font-weight:600;margin-bottom:0}
.foot{font-size:.8125rem;color:var(--soft);margin-bottom:0}
.media{display:flex;flex-direction:column;gap:.1rem;padding:1rem .8rem;border:1px dashed var(--soft);border-radius:.7rem;text-align:center;font-size:.8125rem}
.media-kind{font-weight:600}
.address{color:var(--soft);overflow-wrap:anywhere;font-size:.75rem}
.buttons{display:flex;flex-wrap:wrap;gap:.4rem;margin:.6rem 0 0;padding:0;list-style:none}
.button{display:flex;flex-direction:column;padding:.3rem .8rem;border:1px solid var(--chosen-line);border-radius:1rem;max-width:100%;text-align:center;flex:0 1 auto}
.card .button{flex:1 1 100%;background:var(--paper)}
.label{font-weight:600;overflow-wrap:anywhere}
.button .label{color:var(--chosen-line)}
.target{font-size:.75rem;color:var(--soft);overflow-wrap:anywhere}
.card .target{color:var(--soft)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:.6rem;align-items:stretch}
.phone:has(.card+.card){max-width:none}
.bubble+.cards,.bubble+.sheet,.buttons+.sheet{margin-top:.6rem}
.card{border:1px solid var(--line)}
.sheet-title{margin:.5rem 0 .2rem;font-size:.8125rem;font-weight:600;color:var(--soft)}
.sheet-title:first-child{margin-top:0}
.options{margin:0;padding:0;list-style:none}
.option{display:flex;flex-direction:column;padding:.3rem 0;border-top:1px solid var(--line)}
.option .label{font-weight:400}
.facts{margin:.4rem 0}
.mail{container-type:inline-size;border:1px solid var(--line);border-radius:.6rem;overflow:hidden}
.mail>.facts{margin:0;padding:.8rem 1rem;background:var(--phone)}
.sides{display:grid;grid-template-columns:minmax(0,1fr)}
@container (min-width:38rem){.sides{grid-template-columns:minmax(0,5fr) minmax(0,3fr)}}
.side{min-width:0;padding:.6rem 1rem 1rem;border-top:1px solid var(--line)}
.side .soft{font-size:.8125rem;margin:0 0 .5rem}
.plain{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.frame{display:block;width:100%;height:32rem;border:1px solid var(--line);border-radius:.3rem;background:#fff;color-scheme:light;resize:vertical;overflow:auto}
.script{max-width:34rem;padding:.8rem 1.1rem;border-left:4px solid var(--chosen-line);background:var(--phone);border-radius:0 .6rem .6rem 0}
.script .sender{text-align:left;border:0;margin:0;padding:0}
.script .text{font-size:1.125rem;margin-top:.4rem}
`;
