import type { Report, VariantResult } from '../../model.ts';
import { type Returned, returnedOf } from '../../report/deliveries.ts';
import { type Formats, PLAIN } from '../../report/formats.ts';
import { acceptedBase } from '../../report/variants.ts';
import { deliveryBase } from '../../report/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { round, toneClass } from './chart.ts';

/** How far the messages of a list, a variant or a channel came. Each figure holds the next, but the last two. */
interface Funnel {
  /** Recipients of the list; null where that is not asked, as of a channel. */
  readonly list: number | null;
  /** Requests were made: accepted, refused, in doubt, and those that fell back. */
  readonly sent: number;
  readonly accepted: number;
  /** What the figures of `returned` are shares of: the accepted messages, see `deliveryBase`. */
  readonly base: number;
  /** Null: nothing came back about any message. */
  readonly returned: Returned | null;
}

/** The funnel of a whole run. */
export function funnelOf({ totals, deliveries }: Pick<Report, 'totals' | 'deliveries'>): Funnel {
  const { recipients, accepted, rejected, inDoubt } = totals;
  const returned = Object.keys(deliveries).length > 0 ? returnedOf(deliveries) : null;
  const base = deliveryBase(totals, Object.values(deliveries));
  return { list: recipients, sent: accepted + rejected + inDoubt, accepted, base, returned };
}

/** The funnel of the recipients of a variant. */
export function variantFunnel(variant: VariantResult): Funnel {
  const { recipients, accepted, rejected, inDoubt, delivered, read = null, replied = 0, optedOut = 0 } = variant;
  const returned = delivered === undefined ? null : { delivered, read, replied, optedOut };
  const base = acceptedBase(variant);
  return { list: recipients, sent: accepted + rejected + inDoubt, accepted, base, returned };
}

interface Stage {
  readonly name: string;
  readonly count: number;
  /** What the share is of. */
  readonly whole: number;
  readonly of: string;
}

/** The stages that the funnel has, in order. */
function stagesOf({ list, sent, accepted, base, returned }: Funnel): readonly Stage[] {
  const first = list === null ? [] : [{ name: 'List', count: list, whole: list, of: '' }];
  const stages = [
    ...first,
    { name: 'Sent', count: sent, whole: list ?? sent, of: list === null ? '' : 'of the list' },
    { name: 'Accepted', count: accepted, whole: sent, of: 'of sent' },
  ];
  if (returned === null) return stages;
  const { delivered, read, replied, optedOut } = returned;
  const ofAccepted = { whole: base, of: 'of accepted' };
  return [
    ...stages,
    { name: 'Delivered', count: delivered, ...ofAccepted },
    ...(read === null ? [] : [{ name: 'Read', count: read, ...ofAccepted }]),
    { name: 'Replied', count: replied, ...ofAccepted },
    { name: 'Opted out', count: optedOut, ...ofAccepted },
  ];
}

/** The stages beside each other, each with its figure, its share and a bar against the first. */
export function funnelFigures(funnel: Funnel, words: Pick<Formats, 'number' | 'percent'> = PLAIN): readonly Html[] {
  const stages = stagesOf(funnel);
  const most = Math.max(1, ...stages.map(({ count }) => count));
  return stages.map(
    ({
      name,
      count,
      whole,
      of,
    }) => html`<div><dt>${name}</dt><dd>${words.number(count)}</dd><dd class="soft">${of === '' ? html`&nbsp;` : `${words.percent(count, whole)} ${of}`}</dd><dd>${level(count, most, name)}</dd></div>
`,
  );
}

const LEVEL_PX = 56;

/** A rectangle: its height is the share of the largest stage. What is not nothing is seen. */
function level(count: number, most: number, name: string): Html {
  const height = count === 0 ? 0 : Math.max((count / most) * LEVEL_PX, 1.5);
  return html`<svg class="level ${toneClass(name === 'Opted out' ? 'rejected' : 'plain')}" width="100%" height="${LEVEL_PX}" viewBox="0 0 100 ${LEVEL_PX}" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="100" height="${LEVEL_PX}"/><rect class="fill" y="${round(LEVEL_PX - height)}" width="100" height="${round(height)}"/></svg>`;
}

/** Funnels as rows of a table: a column for each stage that any of them has, and a cell for each. */
export function funnelCells(
  funnels: readonly Funnel[],
  words: Pick<Formats, 'number' | 'percent'>,
): { readonly titles: readonly string[]; readonly cells: readonly (readonly (Html | string)[])[] } {
  const all = funnels.map(stagesOf);
  const names = STAGES.filter((name) => all.some((stages) => stages.some((stage) => stage.name === name)));
  const cells = all.map((stages) => {
    const most = Math.max(...stages.map(({ count }) => count));
    return names.map((name) => {
      const stage = stages.find((one) => one.name === name);
      return stage === undefined ? '-' : funnelCell(stage, most, words);
    });
  });
  const titles = names.map((name) => {
    const of = all.flat().find((stage) => stage.name === name)?.of ?? '';
    return of === '' ? name : `${name} (${of})`;
  });
  return { titles, cells };
}

const STAGES = ['List', 'Sent', 'Accepted', 'Delivered', 'Read', 'Replied', 'Opted out'];

/** A figure of a funnel in a table: its share, and a bar against the first of its row. */
function funnelCell({ name, count, whole, of }: Stage, most: number, words: Pick<Formats, 'number' | 'percent'>): Html {
  const share = of === '' ? null : html` <span class="soft">${words.percent(count, whole)}</span>`;
  const width = count === 0 ? 0 : Math.max((count / Math.max(1, most)) * 100, 1);
  return html`${words.number(count)}${share}<svg class="level ${toneClass(name === 'Opted out' ? 'rejected' : 'plain')}" width="100%" height="4" aria-hidden="true"><rect class="rail" width="100%" height="4"/><rect class="fill" width="${round(width)}%" height="4"/></svg>`;
}

/** The look of funnels; rules of charts color the rectangles. */
export const FUNNEL_STYLE = `.funnel{display:grid;grid-template-columns:repeat(auto-fit,minmax(6.75rem,1fr));gap:.75rem 1px;margin:1rem 0 .5rem}
.funnel>div{display:flex;flex-direction:column;min-width:0;padding-right:.6rem}
.funnel dt{font-size:.8125rem}
.funnel dd:last-child{margin-top:auto}
.funnel dd{font-size:1.25rem;white-space:nowrap;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums}
.funnel dd.soft{margin:0;font-size:.8125rem;font-weight:400;white-space:normal}
@media (max-width:60rem){.funnel{grid-template-columns:repeat(4,1fr)}}
.level{display:block;margin-top:.3rem;border-radius:.2rem}
.level .rail{fill:var(--line);opacity:.5}.level .fill{fill:var(--tone)}`;
