import { Html } from '../util/html.ts';
import { CHART_STYLE } from './charts/style.ts';

/** The look of all pages: no images, no fonts, nothing from elsewhere; light, dark and print. */
export const STYLE: Html = new Html(`
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
.bar{display:flex;gap:2px;height:1.4rem;margin:1.5rem 0 1rem;border-radius:.35rem;overflow:hidden;background:var(--panel)}
.bar span{min-width:3px;background:var(--tone)}
.key{display:inline-block;width:.7rem;height:.7rem;margin-right:.5rem;border-radius:.15rem;background:var(--tone)}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
caption{text-align:left;color:var(--soft);padding:.2rem 0 .5rem}
th,td{padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{font-weight:600}
thead th{color:var(--soft);font-size:.8125rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.none{color:var(--soft)}
.step{margin:.75rem 0;padding:.75rem 1rem;border-left:4px solid var(--in-doubt);background:var(--panel)}
code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.4rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media print{body{max-width:none;padding:0}.step{break-inside:avoid}}
${CHART_STYLE.markup}`);
