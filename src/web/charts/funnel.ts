import type { Report, VariantResult } from '../../model.ts';
import { type Returned, returnedOf } from '../../report/deliveries.ts';
import type { Formats } from '../../report/locale.ts';
import { acceptedBase } from '../../report/variants.ts';
import { deliveryBase } from '../../report/words.ts';
import { type Html, html } from '../../util/escape.ts';
import { track } from './chart.ts';

/** Progress of the messages of a list, a variant or a channel. Each figure includes the next, but the last two. */
interface Funnel {
  /** Recipients of the list; null for a channel, which has none. */
  readonly list: number | null;
  /** Messages with a request: accepted, refused, in doubt, and those that fell back. */
  readonly sent: number;
  readonly accepted: number;
  /** The base of the shares of `returned`: the accepted messages, see `deliveryBase`. */
  readonly base: number;
  /** Null: no reports or replies. */
  readonly returned: Returned | null;
}

export function funnelOf({ totals, deliveries }: Pick<Report, 'totals' | 'deliveries'>): Funnel {
  const { recipients, accepted, rejected, inDoubt } = totals;
  const returned = Object.keys(deliveries).length > 0 ? returnedOf(deliveries) : null;
  const base = deliveryBase(totals, Object.values(deliveries));
  return { list: recipients, sent: accepted + rejected + inDoubt, accepted, base, returned };
}

export function variantFunnel(variant: VariantResult): Funnel {
  const { recipients, accepted, rejected, inDoubt, delivered, read = null, replied = 0, optedOut = 0 } = variant;
  const returned = delivered === undefined ? null : { delivered, read, replied, optedOut };
  return { list: recipients, sent: accepted + rejected + inDoubt, accepted, base: acceptedBase(variant), returned };
}

interface Stage {
  readonly name: string;
  readonly count: number;
  readonly whole: number;
  readonly of: string;
}

const STAGES = ['List', 'Sent', 'Accepted', 'Delivered', 'Read', 'Replied', 'Opted out'];

function stagesOf({ list, sent, accepted, base, returned }: Funnel): readonly Stage[] {
  const [sentWhole, sentOf] = list === null ? [sent, ''] : [list, 'of the list'];
  const { delivered = null, read = null, replied = null, optedOut = null } = returned ?? {};
  const all = [
    [list, list, ''],
    [sent, sentWhole, sentOf],
    [accepted, sent, 'of sent'],
    ...[delivered, read, replied, optedOut].map((count) => [count, base, 'of accepted'] as const),
  ] as const;
  return all.flatMap(([count, whole, of], i) =>
    count === null ? [] : [{ name: STAGES[i] ?? '', count, whole: whole ?? 0, of }],
  );
}

function level({ name, count }: Stage, most: number): Html {
  const width = count === 0 ? 0 : Math.max((count / Math.max(1, most)) * 100, 1);
  return track(0, width, name === 'Opted out' ? 'rejected' : 'plain');
}

export function funnelFigures(funnel: Funnel, { number, percent }: Formats): readonly Html[] {
  const stages = stagesOf(funnel);
  const most = Math.max(...stages.map(({ count }) => count));
  return stages.map((stage) => {
    const { name, count, whole, of } = stage;
    return html`<div><dt>${name}</dt><dd>${number(count)}</dd><dd class="soft">${of === '' ? html`&nbsp;` : `${percent(count, whole)} ${of}`}</dd><dd>${level(stage, most)}</dd></div>
`;
  });
}

export function funnelCells(
  funnels: readonly Funnel[],
  { number, percent }: Formats,
): { readonly titles: readonly string[]; readonly cells: readonly (readonly (Html | string)[])[] } {
  const all = funnels.map(stagesOf);
  const names = STAGES.filter((name) => all.flat().some((stage) => stage.name === name));
  const cells = all.map((stages) => {
    const most = Math.max(...stages.map(({ count }) => count));
    return names.map((name) => {
      const stage = stages.find((one) => one.name === name);
      if (stage === undefined) return '-';
      const { count, whole, of } = stage;
      return html`${number(count)}${of === '' ? null : html` <span class="soft">${percent(count, whole)}</span>`}${level(stage, most)}`;
    });
  });
  const titles = names.map((name) => {
    const of = all.flat().find((stage) => stage.name === name)?.of ?? '';
    return of === '' ? name : `${name} (${of})`;
  });
  return { titles, cells };
}
