import { Html, html } from '../util/escape.ts';
import { TONES } from './charts/chart.ts';
import type { ClientScript } from './client-script.ts';

interface Document {
  readonly title: string;
  /** Follows the rules that all pages share. */
  readonly style?: Html;
  readonly script?: ClientScript;
  /** More sources of the content security policy: `connect-src 'self'`. */
  readonly policy?: readonly string[];
}

/**
 * The text before and after the content, which can then be written in pieces. A page loads nothing: styles and script
 * are inside it, and the policy forbids everything else. The script runs after the complete content.
 */
export function documentFrame({ title, style, script, policy = [] }: Document) {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(script, policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}${style ?? null}</style>
</head>
<body>
`;
  const foot = html`${script === undefined ? null : html`<script>${script.code}</script>\n`}</body>
</html>
`;
  return { head: head.markup, foot: foot.markup };
}

/** For the page's `<meta>` and the header of the server. */
export function contentPolicy(script: ClientScript | undefined, more: readonly string[] = []): string {
  const scripts = script === undefined ? [] : [`script-src ${script.source}`];
  return ["default-src 'none'", "style-src 'unsafe-inline'", ...scripts, ...more].join('; ');
}

/** For all pages. `textWidth` in charts/plot.ts expects this size of figures. */
const CHART_STYLE: Html = new Html(`
:root{--plain:#2f6fb5;--one:#2f6fb5;--two:#a8480f;--three:#1a8754;--four:#8a5fc0;--five:#8a6d00;--six:#b8336a}
@media (prefers-color-scheme:dark){:root{--plain:#6fa8e8;--one:#6fa8e8;--two:#e08a4f;--three:#3fb37f;--four:#b59ae6;--five:#d3b13c;--six:#ee7fae}}
${TONES.map((tone) => `.tone-${tone}{--tone:var(--${tone})}`).join('')}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem 2.5rem;align-items:start}
.chart{margin:0;container-type:inline-size;min-width:0;break-inside:avoid}
.chart figcaption{font-weight:600;margin:0 0 .5rem}
.chart svg{overflow:visible}
.chart svg.plot{display:block;font-size:11px;margin:0 1.1rem 0 2.75rem;width:calc(100% - 3.85rem)}
.chart text{fill:currentColor}
.chart .figure{font-variant-numeric:tabular-nums;fill:var(--soft)}
.chart .strong{font-weight:600;fill:var(--ink);stroke:var(--paper);stroke-width:4;stroke-linejoin:round;paint-order:stroke}
.chart .wide{display:none}
@container (min-width:26rem){.chart .wide{display:inline}.chart .narrow{display:none}}
.chart .grid{stroke:var(--line)}
.chart .axis,.chart .tick{stroke:var(--soft)}
.track{display:block;margin-top:.3rem}
.track .rail{fill:var(--line);opacity:.6}
rect.fill{fill:var(--tone)}
.shares{display:block;height:1.4rem;margin:.6rem 0;border-radius:.35rem;background:var(--panel)}
.shares .fill,.bucket{stroke:var(--paper);stroke-width:1.5}
.mark{fill:var(--tone);stroke:var(--paper);stroke-width:1.5;paint-order:stroke}
.bars{margin:0;padding:0;list-style:none}
.bars li{display:grid;grid-template-columns:minmax(0,1fr) auto auto;gap:0 .6rem;margin:.35rem 0;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.bars .track{grid-column:1/-1;margin-top:.1rem}
.chart .line{fill:none;stroke:var(--tone);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .dash-1{stroke-dasharray:7 4}.chart .dash-2{stroke-dasharray:2 4}.chart .dash-3{stroke-dasharray:8 4 2 4}
.chart .pointer{stroke:currentColor;stroke-dasharray:3 3}
.chart details{margin-top:.6rem;font-size:.875rem}
.chart summary,.chart .soft{color:var(--soft)}
summary{cursor:pointer}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin:0 0 .6rem;padding:0;list-style:none;font-size:.875rem}
.legend li{overflow-wrap:anywhere;min-width:0}
.legend b{font-variant-numeric:tabular-nums}
svg.inline-mark{display:inline-block;width:.85rem;height:.85rem;margin-right:.4rem;vertical-align:-.1em}
@media print{.chart details{display:none}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@media (forced-colors:active){.chart{forced-color-adjust:none}}
`);

/** Rules for tables that have no room: each row becomes a block, with the titles of the columns in it. */
function asBlocks(tables: string): string {
  return `
${tables}{
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;padding:.45rem 0;border-bottom:1px solid var(--line)}
td,td.n,th[scope=row]{display:flex;align-items:baseline;gap:.45rem;border:0;padding:0;min-width:0;text-align:left;white-space:normal}
th[scope=row]{flex:1 0 100%}
td::before{content:attr(data-label);flex:none;color:var(--soft);font-size:.8125rem}
td:empty{display:none}
td:has(.shares){flex:1 0 100%}
td:has(.shares)>*{flex:1}
td>*{min-width:0}
}`;
}

/** For all pages: no images, no fonts, nothing from elsewhere; light, dark and print. */
const STYLE: Html = new Html(`
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#dde3ea;--panel:#f5f7fa;
--accepted:#1a8754;--rejected:#c9302c;--failed:#a8480f;--skipped:#6c7a8c;--deferred:#3b74c4;--in-doubt:#b58105;--pending:#8a6fc0}
@media (prefers-color-scheme:dark){:root{--paper:#12171e;--ink:#e4e9f0;--soft:#9aa6b5;--line:#2b3440;--panel:#1a212a;
--accepted:#3fb37f;--rejected:#ef6b67;--failed:#e08a4f;--skipped:#8896a8;--deferred:#6fa3ea;--in-doubt:#e0b040;--pending:#ab94dd}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{margin:0;font-size:1.75rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:2.25rem 0 .6rem;font-size:1.15rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.state{display:inline-block;padding:.1rem .7rem;border:1px solid var(--tone,currentColor);border-radius:1rem;font-size:.875rem}
.state::before{content:"";display:inline-block;width:.55rem;height:.55rem;margin-right:.45rem;border-radius:50%;background:var(--tone,currentColor)}
.key{display:inline-block;width:.7rem;height:.7rem;margin-right:.5rem;border-radius:.15rem;background:var(--tone)}
.scroll{overflow-x:auto;container-type:inline-size}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
caption{text-align:left;color:var(--soft);padding:.2rem 0 .5rem}
th,td{padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:break-word}
td code,th code{overflow-wrap:anywhere}
th{font-weight:600}
thead th{color:var(--soft);font-size:.8125rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.part th[scope=row]{padding-left:1.35rem;font-weight:400}
.verdict{margin:.6rem 0;padding:.6rem 1rem;border-left:4px solid var(--tone);background:var(--panel);--tone:var(--pending)}
.verdict p{margin:.15rem 0}.verdict p:first-child{font-weight:600;font-size:1.0625rem}
.verdict.good{--tone:var(--accepted)}.verdict.going{--tone:var(--deferred)}.verdict.open{--tone:var(--in-doubt)}.verdict.bad{--tone:var(--rejected)}
.step{margin:.75rem 0;padding:.75rem 1rem;border-left:4px solid var(--in-doubt);background:var(--panel)}
code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.4rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@container (max-width:28rem){${asBlocks('.stack')}}
@container (max-width:52rem){${asBlocks('.stack:has(thead th:nth-child(5))')}}
.back{margin:0 0 .75rem;font-size:.875rem}
@media print{body{max-width:none;padding:0}.step{break-inside:avoid}.back{display:none}}
${CHART_STYLE.markup}`);
