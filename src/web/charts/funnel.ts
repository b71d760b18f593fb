import type { VariantResult } from '../../model.ts';
import type { Returned } from '../../report/deliveries.ts';
import type { Formats } from '../../report/locale.ts';
import { acceptedBase } from '../../report/variants.ts';
import { type Html, html } from '../../util/escape.ts';
import { table } from '../kit.ts';

/** Progress of the messages of a variant or a channel. Each figure includes the next, but the last two. */
interface Funnel {
  /** Recipients of the list; null for a channel, which has none. */
  readonly list: number | null;
  /** Messages with a request: accepted, refused, in doubt, and those that fell back. */
  readonly sent: number;
  readonly accepted: number;
  /** The base of the shares of `returned`: the accepted messages. */
  readonly base: number;
  /** Null: no reports or replies. */
  readonly returned: Returned | null;
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

interface Compared {
  readonly name: string;
  readonly funnel: Funnel;
  /** Rows below the stages, the same in all columns. */
  readonly more: readonly (readonly [title: string, cell: Html | string])[];
}

/** A column for each, so that any number of stages fits a narrow screen and paper. */
export function stagesTable(caption: string, compared: readonly Compared[], { number, percent }: Formats): Html {
  const all = compared.map(({ funnel }) => stagesOf(funnel));
  const stages = STAGES.flatMap((name) => all.flat().find((stage) => stage.name === name) ?? []);
  const rows = stages.map(({ name, of }) => {
    const cells = all.map((own) => {
      const stage = own.find((one) => one.name === name);
      if (stage === undefined) return '-';
      const share = of === '' ? null : html` <span class="soft">${percent(stage.count, stage.whole)}</span>`;
      return html`<span>${number(stage.count)}${share}</span>`;
    });
    return { cells: [of === '' ? name : `${name} (${of})`, ...cells] };
  });
  const more = (compared[0]?.more ?? []).map(([title], i) => ({
    cells: [title, ...compared.map((one) => one.more[i]?.[1] ?? '-')],
  }));
  const columns = [{ title: 'Stage' }, ...compared.map(({ name }) => ({ title: name, isFigure: true }))];
  return table(caption, columns, [...rows, ...more]);
}
