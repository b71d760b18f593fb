/** The chart of the README: how many messages a second, as bars. An image of its own, so that it brings its own style. */
import { scaleLinear } from 'd3-scale';
import { Html, html } from '../src/util/escape.ts';
import { round } from '../src/web/charts/chart.ts';
import type { Figures, Kept } from '../test/bench/figures.ts';
import { figureWords } from './figures-words.ts';

/** Pixels. */
const WIDTH = 760;
const MARGIN = 24;
const HEAD = 76;
const ROW = 44;
const FOOT = 40;

/** handbill and what others make of the same list; and what there is before those were measured. */
const SOURCES = [/^(?:handbill|peer-[a-z]+)-messages-per-second$/, /^(?:send|bare)-rate$/];
const UNIT = 'messages/s';

const STYLE = new Html(`
.paper{fill:#fff;stroke:#dde3ea}.ink{fill:#1c2430}.soft{fill:#5b6675}.rail{fill:#eef1f5}.bar{fill:#8a99ab}.own{fill:#2f6fb5}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:14px}
.title{font-size:18px;font-weight:600}.value{font-weight:600;font-variant-numeric:tabular-nums}.small{font-size:12px}
@media (prefers-color-scheme:dark){
.paper{fill:#12171e;stroke:#2b3440}.ink{fill:#e4e9f0}.soft{fill:#9aa6b5}.rail{fill:#1f2731}.bar{fill:#66758a}.own{fill:#6fa8e8}}
`);

/** The bars: what was measured side by side, in messages a second, the fastest first. */
export function barsOf({ figures }: Figures): readonly Kept[] {
  const found = SOURCES.map((pattern) => figures.filter(({ id }) => pattern.test(id)));
  return (found.find((bars) => bars.length > 1) ?? []).toSorted((a, b) => b.value - a.value);
}

/** The whole image, for light and for dark surroundings; everything that it shows stands in its description as well. */
export function drawChart(figures: Figures): string {
  const bars = barsOf(figures);
  const scale = scaleLinear()
    .domain([0, Math.max(...bars.map(({ value }) => value))])
    .range([0, WIDTH - 2 * MARGIN]);
  const height = HEAD + bars.length * ROW + FOOT;
  const title = 'Messages per second';
  const about = `The same list to the same server, on a machine with ${figures.cores} cores that client and server share`;
  const described = bars.map((bar) => `${nameOf(bar)}: ${figureWords(bar)}`).join('; ');
  const drawing = bars.map((bar, i) => drawBar(bar, HEAD + i * ROW, scale(bar.value)));
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${title}</title>
<desc id="desc">${about}. ${described}.</desc>
<style>${STYLE}</style>
<rect class="paper" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10"/>
<text class="ink title" x="${MARGIN}" y="34">${title}</text>
<text class="soft small" x="${MARGIN}" y="54">${about}</text>
${drawing}<text class="soft small" x="${MARGIN}" y="${height - 18}">Node ${figures.node}. Longer is better. Made by npm run figures from what npm run bench measured.</text>
</svg>
`.markup;
}

function drawBar(bar: Kept, top: number, width: number): Html {
  const own = nameOf(bar).includes('handbill') ? 'own' : 'bar';
  return html`<text class="ink" x="${MARGIN}" y="${top + 16}">${nameOf(bar)}</text><text class="ink value" x="${WIDTH - MARGIN}" y="${top + 16}" text-anchor="end">${figureWords(bar).replace(` ${UNIT}`, '')}</text>
<rect class="rail" x="${MARGIN}" y="${top + 23}" width="${WIDTH - 2 * MARGIN}" height="10" rx="2"/><rect class="${own}" x="${MARGIN}" y="${top + 23}" width="${round(Math.max(width, 1))}" height="10" rx="2"/>
`;
}

/** Without how many messages they were and how it was measured: the page has both. */
function nameOf({ id, what }: Kept): string {
  const name = what.replace(/,.*$/, '');
  return id === 'send-rate' ? `handbill ${name}` : name;
}
