import { Html } from '../util/escape.ts';
import { TONES } from './charts/chart.ts';

/**
 * The style of all pages: no images, no fonts, nothing from elsewhere; light, dark and paper. Sizes of text, spaces,
 * radii and the widths at which a layout changes are these few; a test counts them (test/web/style.test.ts).
 */
const TOKENS = `
:root{color-scheme:light dark;
--t12:.75rem;--t13:.8125rem;--t14:.875rem;--t16:1rem;--t20:1.25rem;--t28:1.75rem;
--s4:.25rem;--s8:.5rem;--s12:.75rem;--s16:1rem;--s24:1.5rem;--s32:2rem;--r4:.25rem;--r8:.5rem;--pill:2rem;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#dde3ea;--panel:#f5f7fa;--field:#7b8694;--link:#1d5fae;--chosen:#dfeafa;
--accepted:#1a8754;--rejected:#c9302c;--failed:#a8480f;--skipped:#6c7a8c;--deferred:#3b74c4;--in-doubt:#b58105;--pending:#8a6fc0;
--plain:#2f6fb5;--one:#2f6fb5;--two:#a8480f;--three:#1a8754;--four:#8a5fc0;
--warn:#8a5a00;--rim:#c4ccd6;--bubble:#e9eef5;--odd:#ffe08a;--odd-ink:#3d2c00}
@media (prefers-color-scheme:dark){:root{
--paper:#12171e;--ink:#e4e9f0;--soft:#9aa6b5;--line:#2b3440;--panel:#1a212a;--field:#6b7786;--link:#8ab8f2;--chosen:#1f3350;
--accepted:#3fb37f;--rejected:#ef6b67;--failed:#e08a4f;--skipped:#8896a8;--deferred:#6fa3ea;--in-doubt:#e0b040;--pending:#ab94dd;
--plain:#6fa8e8;--one:#6fa8e8;--two:#e08a4f;--three:#3fb37f;--four:#b59ae6;
--warn:#e0b040;--rim:#4a5664;--bubble:#26313e;--odd:#6b5310;--odd-ink:#fff3cf}}
${TONES.map((tone) => `.tone-${tone}{--tone:var(--${tone})}`).join('')}`;

const TEXT = `
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0 auto;max-width:76rem;padding:var(--s16) var(--s16) var(--s32);background:var(--paper);color:var(--ink);
font:var(--t14)/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{container-type:inline-size}
h1,h2,h3{margin:0;line-height:1.25;overflow-wrap:anywhere;break-after:avoid}
h1{font-size:var(--t20)}h2,h3{margin:var(--s24) 0 var(--s8);font-size:var(--t16)}
p,pre{margin:var(--s4) 0;overflow-wrap:anywhere}
pre{white-space:pre-wrap}
code{font:var(--t13)/1.5 var(--mono);overflow-wrap:anywhere}
a{color:var(--link);text-decoration:none;text-underline-offset:.15em}
a:hover,p a:not(.button),dd a,h2 a,.legend a,#attention a{text-decoration:underline}
summary{cursor:pointer;min-height:1.5rem}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:var(--r4)}
.soft{color:var(--soft)}
.soft,.legend,time,.when{font-variant-numeric:tabular-nums}
th .soft,td .soft,h2 .soft,.crumbs,.field>label,.field span,legend,thead th,footer,.back,.live,.menu p,.timeline .when,.timeline time{font-weight:400;font-size:var(--t13);color:var(--soft)}
.name{font-weight:600}
.name,.nowrap,td time,p>time{white-space:nowrap}
.hidden,.skip:not(:focus){position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.quote{white-space:pre-wrap;unicode-bidi:plaintext;margin:0;max-height:12rem;overflow:auto}
kbd{padding:0 var(--s4);border:1px solid var(--line);border-bottom-width:2px;border-radius:var(--r4);font:var(--t13)/1.4 inherit}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:var(--s4) var(--s16);margin:0}
h1+dl{margin-top:var(--s8)}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
ul{margin:var(--s4) 0;padding-left:var(--s16)}
li{overflow-wrap:anywhere;min-width:0}
.legend,.bars,.timeline,.crumbs ol,.menu ul,.options,.offers{margin:0;padding:0;list-style:none}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 var(--s32)}
.pair>*{min-width:0}`;

/** Boxes that say something, and what a person can press or fill in. */
const BOXES = `
.state,.badge{display:inline-block;padding:0 var(--s8);border:1px solid var(--tone,currentColor);border-radius:var(--pill);font-size:var(--t13);white-space:nowrap}
.state::before,.live::before{content:"";display:inline-block;width:.55rem;height:.55rem;margin-right:var(--s4);border-radius:50%;background:var(--tone,var(--skipped))}
.key{display:inline-block;width:.7rem;height:.7rem;margin-right:var(--s8);background:var(--tone)}
.verdict,.step,.notice,.warnings,.stop,.script{margin:var(--s8) 0;padding:var(--s8) var(--s16);border-left:4px solid var(--tone,var(--in-doubt));border-radius:var(--r4);background:var(--panel);break-inside:avoid}
.verdict p,.step p,.step pre,.notice p{margin:0}
.verdict p:first-child{font-weight:600;font-size:var(--t16)}
.notice,.verdict.good{--tone:var(--accepted)}.verdict.going{--tone:var(--deferred)}.notice.bad,.verdict.bad,.stop{--tone:var(--rejected)}
.notice.line{display:flex;flex-wrap:wrap;align-items:center;gap:0 var(--s16);padding-block:var(--s4)}
.empty{margin-top:var(--s12);padding:var(--s16);border-radius:var(--r8);background:var(--panel)}
.head,.filters,.actions,.choices,.choosers,.pager,.copied,footer,.status,.steer{display:flex;flex-wrap:wrap;align-items:center;gap:var(--s8)}
.filters,.choices,.pager{margin:var(--s8) 0}.filters{align-items:end}
.filters p,.head .actions,td .actions,.notice .actions,.site form,fieldset .filters{margin:0}
.head>form.actions{margin-left:auto}
.field{display:flex;flex-direction:column;min-width:0}
.field.wide{flex:1 1 16rem}
input,select,button,.button{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--field);border-radius:var(--r4);padding:var(--s4) var(--s8);min-height:2rem;max-width:100%}
input[type=checkbox]{min-height:0;width:1.15rem;height:1.15rem;margin:0;vertical-align:-.2rem;accent-color:var(--link)}
button,.button{cursor:pointer;font-weight:600;display:inline-block;color:var(--ink)}
button:hover,.button:hover,.choices a:hover{border-color:var(--link);text-decoration:none}
button.main,.button.main{background:var(--link);border-color:var(--link);color:var(--paper)}
button.quiet{font-weight:400;padding:0 var(--s8);min-height:1.75rem;font-size:var(--t13)}
.brand,h2 a,.choices a{display:inline-block;min-height:1.5rem}
.choices a{padding:0 var(--s12);border:1px solid var(--line);border-radius:var(--pill);color:var(--ink);white-space:nowrap}
.choices a[aria-current],.site nav a[aria-current]{border-color:var(--link);background:var(--panel);font-weight:600;color:var(--ink)}
.copied{display:inline-flex;gap:0 var(--s8);max-width:100%}
.copied>:first-child{min-width:0}
html:not(.copies) .copied button{display:none}
#decided{position:sticky;bottom:var(--s8);z-index:1}tbody tr{scroll-margin-bottom:4rem}
td .actions button{white-space:nowrap}@container (width > 52rem){td .actions{flex-wrap:nowrap}}
fieldset{margin:var(--s12) 0;padding:var(--s8) var(--s12);border:1px solid var(--line);border-radius:var(--r8);min-width:0}
.chosen,.chosen legend{background:var(--paper)}
@media (min-width:52rem) and (min-height:40rem){.chosen{position:sticky;bottom:0;z-index:1}}
progress{width:100%;height:.6rem;accent-color:var(--link)}
dialog{min-width:min(22rem,90vw);border:1px solid var(--line);border-radius:var(--r8);background:var(--paper);color:var(--ink);padding:var(--s16)}
dialog h2{margin-top:0}
dialog::backdrop{background:#0006}`;

/** A cell, and in front of it the title of its column, where there is no row of titles. */
const TITLED = 'content:attr(data-label);flex:none;color:var(--soft);font-size:var(--t13)';
const LABELLED =
  'display:flex;flex:0 1 auto;max-width:100%;align-items:baseline;gap:var(--s8);padding:0;text-align:left;white-space:normal';

/** Tables. With too little room the columns that matter least go below the first cell, and then all of them. */
const TABLES = `
.scroll{overflow-x:auto;container-type:inline-size}
table{width:100%;border-collapse:collapse}
caption{text-align:left;color:var(--soft);padding-bottom:var(--s4)}
tr{border-bottom:1px solid var(--line);break-inside:avoid}
th,td{padding:var(--s4) var(--s12) var(--s4) 0;text-align:left;vertical-align:top}
thead th{font-weight:600;vertical-align:bottom}
tr>:last-child{padding-right:0}
thead th a{color:inherit}
th[aria-sort=ascending] a::after{content:" ↑"}th[aria-sort=descending] a::after{content:" ↓"}
th[scope=row]{font-weight:500;min-width:6rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.part th[scope=row]{padding-left:var(--s24);font-weight:400}
td[data-label=Meaning]::before{display:none}
tbody tr:hover,tbody tr:focus-within,tr:target{background:var(--panel)}
@container (width <= 52rem){th .name{white-space:normal;overflow-wrap:anywhere}}
@container (28rem < width <= 52rem){table:has(.low){
tr{display:flex;flex-wrap:wrap;gap:0 var(--s12);padding:var(--s4) 0}
tr::after{content:"";flex:1 0 100%;order:1}
th,td{flex:0 0 7rem;padding:0}.n{flex-basis:5rem}thead th.n{white-space:normal}
:first-child:is(th){flex:1 1 9rem}.roomy{flex:2 1 10rem}
td.low{order:2;${LABELLED}}td.low::before{${TITLED}}
th.low,td.low:empty{display:none}
}}
@container (width <= 28rem){table{
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{display:flex;flex-wrap:wrap;gap:0 var(--s16);padding:var(--s8) 0}
td,td.n{${LABELLED};min-width:0}
th[scope=row]:first-child{flex:1 0 100%;padding-block:0}
td::before{${TITLED}}
td:empty{display:none}
.roomy{flex:1 0 100%}.roomy>*{flex:1}
tr{position:relative}th[scope=row] a::after{content:"";position:absolute;inset:0}
td :is(a,button,summary),th input{position:relative;z-index:1}
:is(th,td,caption) a{display:inline-block;min-height:1.5rem}input[type=checkbox]{width:1.5rem;height:1.5rem}
}}`;

/** The font of figures in drawings is that which `textWidth` in charts/plot.ts expects. */
const CHARTS = `
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:var(--s24) var(--s32);align-items:start}
.chart{margin:var(--s8) 0;container-type:inline-size;min-width:0;break-inside:avoid}
.chart figcaption{font-weight:600;margin-bottom:var(--s8);break-after:avoid}
.chart svg{overflow:visible}
.chart svg.plot{display:block;font-size:var(--t12);margin:0 var(--s16) 0 calc(var(--s16) + var(--s32));width:calc(100% - 4rem)}
.chart text{fill:currentColor}
.chart .figure{font-variant-numeric:tabular-nums;fill:var(--soft)}
.chart .wide{display:none}
@container (width >= 28rem){.chart .wide{display:inline}.chart .narrow{display:none}}
.chart .grid{stroke:var(--line)}
.chart .axis,.chart .tick{stroke:var(--soft)}
.track{display:block}
.track .rail{fill:var(--line);opacity:.6}
rect.fill{fill:var(--tone)}
.shares{display:block;height:1rem;margin:var(--s8) 0;border-radius:var(--r4);background:var(--panel)}
td .shares{height:.5rem;margin:var(--s4) 0;min-width:8rem}
.shares .fill{stroke:var(--paper);stroke-width:1.5}
.mark{fill:var(--tone);stroke:var(--paper);stroke-width:1.5;paint-order:stroke}
.bars li{display:grid;grid-template-columns:minmax(0,1fr) auto auto;gap:0 var(--s8);margin:var(--s4) 0;font-variant-numeric:tabular-nums}
.bars .track{grid-column:1/-1}
.chart .line{fill:none;stroke:var(--tone);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .dash-1{stroke-dasharray:7 4}.chart .dash-2{stroke-dasharray:2 4}.chart .dash-3{stroke-dasharray:8 4 2 4}
.legend{display:flex;flex-wrap:wrap;gap:0 var(--s16)}
svg.inline-mark{display:inline-block;width:.85rem;height:.85rem;margin-right:var(--s4);vertical-align:-.1em}
@media (forced-colors:active){.chart{forced-color-adjust:none}}`;

/** The frame of the pages of `serve`, and the story of a recipient. */
const SERVE = `
.site{display:flex;flex-wrap:wrap;align-items:center;gap:var(--s4) var(--s16);margin-bottom:var(--s12);padding-bottom:var(--s8);border-bottom:1px solid var(--line)}
.brand{font-weight:700;color:var(--ink)}
.site nav{flex:1 1 auto}
.site nav>button{display:none}
.menu{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:var(--s4) var(--s16);position:static;width:auto;margin:0;padding:0;border:0;overflow:visible;background:none;color:inherit}
.menu ul{display:flex;flex-wrap:wrap}
.site nav a{display:block;padding:var(--s4) var(--s8);border-radius:var(--r4);color:var(--soft)}
.site nav a>div{display:inline;font-weight:600}
.site nav a>div:empty{display:none}
.site nav a:hover{background:var(--panel);color:var(--ink)}
.live,.menu p{margin:0;white-space:nowrap}
.live[data-state=live]{--tone:var(--accepted)}.live[data-state=lost]{--tone:var(--in-doubt)}
.skip:focus{position:absolute;left:var(--s8);padding:var(--s8);background:var(--paper);z-index:2}
.crumbs ol{display:flex;flex-wrap:wrap}
.crumbs li+li::before{content:"/";margin:0 var(--s8)}
footer{gap:var(--s4) var(--s24);margin-top:var(--s32);padding-top:var(--s8);border-top:1px solid var(--line)}
.keys-hint{margin-left:auto}
.story{display:grid;grid-template-columns:minmax(0,23rem) minmax(0,1fr);gap:var(--s16) var(--s32);align-items:start;margin-top:var(--s16)}
.story:not(:has(.said-text)){grid-template-columns:minmax(0,1fr)}
.story h2{margin-top:0}
.timeline>li{position:relative;padding:0 0 var(--s12) var(--s24);border-left:2px solid var(--line)}
.timeline>li:last-child{border-color:transparent}
.timeline>li::before{content:"";position:absolute;left:-.4rem;top:.35rem;width:.65rem;height:.65rem;border-radius:50%;background:var(--tone,var(--skipped));box-shadow:0 0 0 3px var(--paper)}
.timeline time,.timeline .when{display:block}
.timeline .quote{padding:var(--s8) var(--s12);background:var(--panel);border-radius:var(--r8)}
@container (width <= 40rem){
.story{grid-template-columns:minmax(0,1fr)}
.field:has(select){flex:1 1 9rem}
.head>form.actions{margin-left:0;flex:1 1 100%}.head input{width:100%}
}
@media (max-width:52rem){@supports selector(:popover-open){
.site{flex-wrap:nowrap}
.site nav{flex:0 0 auto;order:1}
.site nav>button{display:inline-block}
.menu:not(:popover-open){display:none}
.menu{position:absolute;inset:3rem 1rem auto auto;flex-direction:column;align-items:stretch;min-width:12rem;padding:var(--s8);border:1px solid var(--line);border-radius:var(--r8);background:var(--paper);box-shadow:0 .5rem 1.5rem #0003}
.menu ul{flex-direction:column}
.menu p,.menu form{padding:var(--s4) var(--s8);white-space:normal;max-width:16rem}
.brand{margin-right:auto}
}}`;

/** A message as its recipient sees it: in the preview, and on the page of a recipient. */
const MESSAGE = `
.message{margin:var(--s16) 0}.message:first-child,.message:first-of-type{margin-top:0}
.step-name{margin:0 0 var(--s8);font-size:var(--t14);color:var(--soft);font-weight:600}
.phone{max-width:23rem;padding:var(--s12) var(--s12) var(--s16);border:1px solid var(--rim);border-radius:var(--pill);background:var(--panel);box-shadow:inset 0 0 0 5px var(--paper),0 0 0 4px var(--rim)}
.shown>.message:first-child .phone{min-height:22rem}
.phone::before{content:"";display:block;width:5rem;height:.3rem;margin:var(--s4) auto var(--s8);border-radius:var(--pill);background:var(--rim)}
.sender{margin:0 0 var(--s12);padding-bottom:var(--s8);border-bottom:1px solid var(--line);font-weight:600;text-align:center}
.bubble,.card,.sheet{padding:var(--s8) var(--s12);border-radius:var(--r8);background:var(--bubble);overflow-wrap:anywhere}
.bubble{width:fit-content;max-width:100%}
.text,.plain{white-space:pre-wrap;overflow-wrap:anywhere}
.text,.plain,.title,.foot,.label{unicode-bidi:plaintext}
.bubble>*+*,.card>*+*,.phone>*+.cards,.phone>*+.sheet{margin-top:var(--s8)}
.cut{unicode-bidi:isolate;margin:0 var(--s4);padding:0 var(--s4);border-radius:var(--r4);background:var(--paper);color:var(--soft);border:1px solid var(--line);font-size:var(--t12);white-space:nowrap;user-select:none}
.odd{background:var(--odd);color:var(--odd-ink);border-radius:var(--r4)}
.title,.media-kind,.label{font-weight:600;overflow-wrap:anywhere}
.foot,.media,.sheet-title,.side .soft{font-size:var(--t13);color:var(--soft)}
.address,.target{font-size:var(--t12);color:var(--soft);overflow-wrap:anywhere}
.media{display:flex;flex-direction:column;padding:var(--s16) var(--s12);border:1px dashed var(--soft);border-radius:var(--r8);text-align:center}
.offers{display:flex;flex-wrap:wrap;gap:var(--s8);margin-top:var(--s8)}
.offer{display:flex;flex-direction:column;padding:var(--s4) var(--s12);border:1px solid var(--link);border-radius:var(--pill);max-width:100%;text-align:center}
.card .offer{flex:1 1 100%;background:var(--paper)}
.offer .label{color:var(--link)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:var(--s8)}
.phone:has(.card+.card){max-width:none}
.card{border:1px solid var(--line)}
.option{display:flex;flex-direction:column;padding:var(--s4) 0;border-top:1px solid var(--line)}
.option .label{font-weight:400}
.facts{margin:var(--s8) 0}
.mail{container-type:inline-size;border:1px solid var(--line);border-radius:var(--r8);overflow:hidden}
.mail>.facts{margin:0;padding:var(--s12) var(--s16);background:var(--panel)}
.sides{display:grid;grid-template-columns:minmax(0,1fr)}
@container (width > 40rem){.sides{grid-template-columns:minmax(0,5fr) minmax(0,3fr)}}
.side{min-width:0;padding:var(--s8) var(--s16) var(--s16);border-top:1px solid var(--line)}
.plain,.code{font:var(--t13)/1.5 var(--mono)}
.code{white-space:pre-wrap;overflow-wrap:anywhere;padding:var(--s12);background:var(--panel);border-radius:var(--r4)}
.frame{display:block;width:100%;height:32rem;border:1px solid var(--line);border-radius:var(--r4);background:#fff;color-scheme:light;resize:vertical;overflow:auto}
.script{max-width:34rem;--tone:var(--link)}
.script .sender{text-align:left;border:0;margin:0;padding:0}
.script .text{font-size:var(--t16)}`;

/** The list and the reader of a preview. */
const PREVIEW = `
body:has(#browse){max-width:90rem}
.top{display:flex;flex-wrap:wrap;gap:0 var(--s16);align-items:baseline}
.figures{margin:var(--s8) 0 var(--s12);border:1px solid var(--line);border-radius:var(--r8);background:var(--panel)}
.figures>summary{display:flex;flex-wrap:wrap;gap:0 var(--s24);align-items:baseline;padding:var(--s8) var(--s12);list-style:none;color:var(--soft)}
.figures>summary::-webkit-details-marker{display:none}
.figures>summary b{color:var(--ink);font-size:var(--t16);font-variant-numeric:tabular-nums}
.figures .bad,.figures .bad b{color:var(--rejected)}.figures .odd-one,.figures .odd-one b{color:var(--warn)}
.figures .opens{margin-left:auto;color:var(--link)}
.figures .opens::after{content:" ▾"}.figures[open] .opens::after{content:" ▴"}
.figures>div{padding:var(--s12);border-top:1px solid var(--line);background:var(--paper)}
.stop h2{margin:0;color:var(--rejected)}
.fold{margin-top:var(--s12)}
.fold>summary,.help>summary,#narrow>summary{color:var(--soft);width:fit-content}
button[aria-pressed=true],.hit[aria-selected=true]{background:var(--chosen);border-color:var(--link)}
button:disabled{color:var(--soft);cursor:default;border-color:var(--line)}
#query{width:100%}
#narrow{margin-top:var(--s8)}
#filters{display:grid;grid-template-columns:1fr 1fr;gap:var(--s8);margin-top:var(--s8)}
.status{justify-content:space-between;margin:var(--s8) 0}
.status p{margin:0;font-variant-numeric:tabular-nums;font-weight:600}
.help[open]{flex-basis:100%}
.help dl{padding:var(--s12);background:var(--panel);border-radius:var(--r8);grid-template-columns:1fr}
#browse{display:grid;grid-template-columns:minmax(15rem,20rem) minmax(0,1fr);gap:var(--s24);align-items:start}
.finder{position:sticky;top:.75rem;min-width:0}
#list{position:relative;height:min(max(100vh - 17rem,16rem),var(--full,100rem));min-height:4rem;overflow:auto;border:1px solid var(--line);border-radius:var(--r8);contain:strict}
#list .rail{position:relative;width:100%}
.hit{position:absolute;inset:0 0 auto;padding:var(--s8) var(--s12);border-bottom:1px solid var(--line);border-left:4px solid transparent;cursor:pointer;overflow:hidden}
.hit:hover{background:var(--panel)}
.hit-top,.hit-sub{display:flex;gap:var(--s8);align-items:baseline;justify-content:space-between}
.hit-to,.hit-sub span{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;flex:0 0 auto}
.hit-to,.hit-sub span:first-child{flex:0 1 auto;font-variant-numeric:tabular-nums}
.hit-to{font-weight:600}
.hit-sub{font-size:var(--t13);color:var(--soft)}
.hit[aria-selected=true] .hit-sub,.hit[aria-selected=true] .badge{color:var(--ink)}
.badge{flex:none;color:var(--tone,var(--soft))}
.badge[data-word=send]{--tone:var(--accepted)}.badge[data-word=invalid]{--tone:var(--rejected)}.badge[data-word=defer]{--tone:var(--deferred)}
.reader{min-width:0;container-type:inline-size}
.steer{margin-bottom:var(--s12)}
#place{margin-right:auto;padding:0 var(--s4)}
#detail{min-width:0;min-height:12rem;touch-action:pan-y}
#first .row{border-top:1px solid var(--line);padding:var(--s16) 0;margin:var(--s16) 0}
.row{display:grid;grid-template-columns:minmax(0,23rem) minmax(0,1fr);grid-template-rows:auto 1fr;gap:var(--s12) var(--s24)}
.row>*{grid-column:2}
.row>.shown{grid-column:1;grid-row:1/span 2}
.row:not(:has(>.shown)),.row:has(.mail,.card+.card,.compare){grid-template-columns:minmax(0,1fr)}
.row:not(:has(>.shown))>*,.row:has(.mail,.card+.card,.compare)>*{grid-column:1;grid-row:auto}
.shown,.more,.column{min-width:0}
.compare{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:var(--s16) var(--s24);align-items:start}
.column>.step-name{margin:0;color:var(--ink)}
.row-head{display:flex;flex-wrap:wrap;gap:var(--s4) var(--s12);align-items:baseline}
.row-head p{flex-basis:100%;margin:0}
.row-to{margin:0;font-size:var(--t20);font-variant-numeric:tabular-nums}
.warnings{padding-left:var(--s32);--tone:var(--warn)}
@container (width <= 40rem){.row{grid-template-columns:minmax(0,1fr)}.row>*,.row>.shown{grid-column:1;grid-row:auto}}
@media (max-width:52rem){
#browse{grid-template-columns:minmax(0,1fr)}
.reader{order:-1}
.finder{position:static}
#list{height:min(24rem,var(--full,24rem))}
.steer{gap:var(--s4)}#place{flex:1 1 72%}.steer button{font-size:var(--t12)}.wide-only{display:none}
.figures>summary{gap:0 var(--s16)}
.figures>summary b{font-size:inherit}
.shown>.message:first-child .phone{min-height:17rem}
.phone{margin-inline:auto}
}
@media (forced-colors:active){.hit[aria-selected=true]{outline:2px solid Highlight;outline-offset:-2px}}`;

/** Whole, without what a person would press or unfold. */
const PAPER = `
@media print{
@page{size:A4;margin:10mm}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
body{max-width:none;padding:0;zoom:.66}
h2{margin:var(--s12) 0 var(--s4)}
th,td{padding-block:0}
.pair{grid-template-columns:1fr 1fr}
.site nav,.filters,.actions,.pager,.choices,.copied button,.live,.back,body>.notice,.recipients,main details:not(.figures),#browse,.keys-hint{display:none}
#first{display:block!important}.figures::details-content{content-visibility:visible;block-size:auto}
}`;

export const STYLE: Html = new Html([TOKENS, TEXT, BOXES, TABLES, CHARTS, SERVE, MESSAGE, PREVIEW, PAPER].join(''));
