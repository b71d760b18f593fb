import { Html } from '../util/html.ts';

/** What the pages of `handbill serve` have beside the style that all pages share. */
export const SERVE_STYLE: Html = new Html(`
body{max-width:72rem;padding:0 1.25rem 3rem}
a{color:var(--link);text-underline-offset:.15em}
:root{--link:#1d5fae;--focus:#1d5fae;--field:#7b8694;--good:#e3f3ea;--bad:#fbe6e4}
@media (prefers-color-scheme:dark){:root{--link:#8ab8f2;--focus:#8ab8f2;--field:#6b7786;--good:#17321f;--bad:#3b1d1d}}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:.2rem}
.skip{position:absolute;left:-100vw;top:.5rem;padding:.5rem 1rem;background:var(--paper);z-index:2}
.skip:focus{left:.5rem}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
.site{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1.5rem;margin:0 -1.25rem 1.75rem;padding:.6rem 1.25rem;border-bottom:1px solid var(--line)}
.brand{font-weight:700;letter-spacing:-.01em;color:var(--ink);text-decoration:none}
.site nav{flex:1 1 auto}
.site nav ul{display:flex;flex-wrap:wrap;gap:.1rem .25rem;margin:0;padding:0;list-style:none}
.site nav a{display:block;padding:.3rem .7rem;border-radius:.4rem;color:var(--ink);text-decoration:none}
.site nav a:hover{background:var(--panel)}
.site nav a[aria-current]{background:var(--panel);font-weight:600;box-shadow:inset 0 -2px var(--link)}
.live{margin:0;font-size:.8125rem;color:var(--soft);white-space:nowrap}
.live::before{content:"";display:inline-block;width:.55rem;height:.55rem;margin-right:.4rem;border-radius:50%;background:var(--skipped)}
.live[data-state=live]::before{background:var(--accepted)}
.live[data-state=lost]::before{background:var(--in-doubt)}
.site form{margin:0}
.head{display:flex;flex-wrap:wrap;align-items:baseline;gap:.3rem .9rem}
.crumbs{margin:0 0 .4rem;font-size:.9rem;color:var(--soft)}
.notice{margin:0 0 1.25rem;padding:.7rem 1rem;border-radius:.4rem;border-left:4px solid var(--accepted);background:var(--good)}
.notice.bad{border-color:var(--rejected);background:var(--bad)}
.state{white-space:nowrap}
.bar.small{height:.7rem;margin:.15rem 0 .25rem;gap:1px;min-width:9rem}
.bar.small span{min-width:2px}
.filters p{margin:0}
h1+dl{margin-top:1rem}
.filters{display:flex;flex-wrap:wrap;align-items:end;gap:.75rem 1rem;margin:1rem 0;padding:1rem;background:var(--panel);border-radius:.5rem}
.field{display:flex;flex-direction:column;gap:.2rem;min-width:0}
.field.wide{flex:1 1 18rem}
.field>label,legend{font-size:.8125rem;color:var(--soft)}
.hint{margin:0;font-size:.8125rem;color:var(--soft)}
input,select,button,.button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--field);border-radius:.35rem;padding:.35rem .65rem;min-height:2.25rem;max-width:100%}
input[type=checkbox]{min-height:0;width:1.15rem;height:1.15rem;margin:0;vertical-align:-.2rem;accent-color:var(--link)}
button,.button{cursor:pointer;font-weight:600;text-decoration:none;display:inline-block}
button:hover,.button:hover{border-color:var(--link)}
button.main,.button.main{background:var(--link);border-color:var(--link);color:var(--paper)}
button.quiet{font-weight:400;padding:.1rem .5rem;min-height:1.75rem;font-size:.875rem}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin:.75rem 0 0}
td .actions{margin:0}
.pager{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;margin:1rem 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;margin:1rem 0;padding:0;list-style:none}
.cards li{padding:.6rem .8rem;background:var(--panel);border-radius:.5rem;border-top:3px solid var(--tone,var(--line))}
.cards b{display:block;font-size:1.3rem;line-height:1.3;font-variant-numeric:tabular-nums}
.cards a{color:inherit}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2.5rem}
.two>*{min-width:0}
.empty{padding:1.5rem;background:var(--panel);border-radius:.5rem}
.quote{white-space:pre-wrap;unicode-bidi:plaintext;margin:0;max-height:12rem;overflow:auto}
td.pick,th.pick{width:2rem}
footer{margin-top:3rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:.8125rem;color:var(--soft)}
th[scope=row]{font-weight:500}
th .soft,h2 .soft{font-weight:400;font-size:.8125rem}
fieldset .filters{margin:0;padding:.25rem 0;background:none}
tr:target{background:var(--panel)}
fieldset{margin:.75rem 0;padding:.75rem 1rem;border:1px solid var(--line);border-radius:.5rem;min-width:0}
.name{font-weight:600}
td .soft,.cards .soft{font-size:.8125rem}
.scroll:focus-visible{outline-offset:-2px}
@media (max-width:46rem){
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tr{display:block;padding:.6rem 0;border-bottom:1px solid var(--line)}
.stack td,.stack th[scope=row]{display:flex;gap:.75rem;border:0;padding:.15rem 0;text-align:left;white-space:normal}
.stack td::before{content:attr(data-label);flex:0 0 7rem;color:var(--soft);font-size:.8125rem}
.stack td:empty{display:none}
.stack td>*{min-width:0}
}
@media print{.site nav,.filters,.actions,.pager,.live{display:none}}
`);
