import { Html } from '../util/html.ts';

/** What the page of a report adds to the look of all pages. */
export const REPORT_STYLE: Html = new Html(`
.run{font-size:1.0625rem}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 0}
.tiles>div{padding:.75rem 1rem;background:var(--panel);border-radius:.6rem;flex:1 1 auto;min-width:7rem}
.tiles dt{font-size:.8125rem}
.tiles dd{font-size:1.375rem;font-weight:600;line-height:1.3;white-space:nowrap;font-variant-numeric:tabular-nums}
.tiles dd.soft{font-size:.8125rem;font-weight:400}
.nowrap,time{white-space:nowrap}
.chart+.scroll,p+.scroll,p+.chart{margin-top:1rem}
.n+:not(.n){padding-left:1rem}
.stacked th[scope=row]{white-space:nowrap}
th,td{overflow-wrap:break-word}
td:not(.n){min-width:5.5rem}
td code{overflow-wrap:anywhere}
@media (max-width:40rem){
.stacked thead{display:none}
.stacked tr{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .9rem;padding:.45rem 0;border-bottom:1px solid var(--line)}
.stacked th,.stacked td.n,.stacked td{border:0;padding:0;min-width:0}
.stacked th[scope=row]{flex:1 1 auto;white-space:normal;overflow-wrap:anywhere}
.stacked td:last-child{flex:1 0 100%;color:var(--soft)}}
section{break-inside:auto}
h2{break-after:avoid}
tr{break-inside:avoid}
@media print{.tiles>div{border:1px solid var(--line)}}
`);
