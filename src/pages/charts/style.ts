import { Html } from '../../util/html.ts';
import { TONES } from './tones.ts';

/** What charts look like; part of the style of every page. Sizes of text are those that text-fit.ts reckons with. */
export const CHART_STYLE: Html = new Html(`
:root{--plain:#2f6fb5;--one:#2f6fb5;--two:#a8480f;--three:#1a8754;--four:#8a5fc0;--five:#8a6d00;--six:#b8336a}
@media (prefers-color-scheme:dark){:root{--plain:#6fa8e8;--one:#6fa8e8;--two:#e08a4f;--three:#3fb37f;--four:#b59ae6;--five:#d3b13c;--six:#ee7fae}}
${TONES.map((tone) => `.tone-${tone}{--tone:var(--${tone})}`).join('')}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem 2.5rem;align-items:start}
.chart{margin:0;container-type:inline-size;min-width:0;break-inside:avoid}
.chart figcaption{font-weight:600;margin:0 0 .5rem}
.chart svg{display:block;overflow:visible;font-size:11px}
.chart svg svg{display:inline}
.chart svg.plot{margin:0 1.1rem 0 2.75rem;width:calc(100% - 3.85rem)}
.chart text{fill:currentColor}
.chart .label{font-size:13px}
.chart .value,.chart .figure{font-variant-numeric:tabular-nums}
.chart .value,.chart .strong{font-weight:600}
.chart .figure{fill:var(--soft)}
.chart .strong{fill:var(--ink);stroke:var(--paper);stroke-width:4;stroke-linejoin:round;paint-order:stroke}
.chart .wide{display:none}
@container (min-width:26rem){.chart .wide{display:inline}.chart .narrow{display:none}}
.chart .grid{stroke:var(--line)}
.chart .axis,.chart .tick{stroke:var(--soft)}
.chart .rail{fill:var(--line);opacity:.6}
.chart .fill{fill:var(--tone)}
.chart .segment .fill,.chart .bucket{stroke:var(--paper);stroke-width:1.5}
.chart .mark{fill:var(--tone);stroke:var(--paper);stroke-width:1.5;paint-order:stroke}
.chart .segment .mark{fill:var(--paper);stroke:none}
.chart .line{fill:none;stroke:var(--tone);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.chart .dash-1{stroke-dasharray:7 4}.chart .dash-2{stroke-dasharray:2 4}.chart .dash-3{stroke-dasharray:8 4 2 4}
.chart .area{fill:var(--tone);opacity:.15}
.chart .whisker{stroke:var(--tone);stroke-width:2}
.chart .pointer{stroke:currentColor;stroke-dasharray:3 3}
.chart details{margin-top:.6rem;font-size:.875rem}
.chart summary,.chart .soft{color:var(--soft)}
summary{cursor:pointer}
.legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin:0 0 .6rem;padding:0;list-style:none;font-size:.875rem}
.legend li{overflow-wrap:anywhere;min-width:0}
.legend b{font-variant-numeric:tabular-nums}
svg.inline-mark,.chart svg.inline-mark{display:inline-block;width:.85rem;height:.85rem;margin-right:.4rem;vertical-align:-.1em}
.inline-mark .mark{fill:var(--tone)}
@media print{.chart details{display:none}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@media (forced-colors:active){.chart{forced-color-adjust:none}}
`);
