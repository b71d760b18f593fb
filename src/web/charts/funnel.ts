import type { VariantResult } from '../../model.ts';
import type { Returned } from '../../report/deliveries.ts';
import type { Formats } from '../../report/locale.ts';
import { acceptedBase } from '../../report/variants.ts';
import { type Html, type HtmlValue, html } from '../../util/escape.ts';
import { figureColumns, table } from '../kit.ts';

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

/** Each stage with its count, null where it is not known, and that of which it is a share. */
function stagesOf({ list, sent, accepted, base, returned }: Funnel) {
  return [
    ['List', list, null],
    [list === null ? 'Sent' : 'Sent (of the list)', sent, list],
    ['Accepted (of sent)', accepted, sent],
    ['Delivered (of accepted)', returned?.delivered ?? null, base],
    ['Read (of accepted)', returned?.read ?? null, base],
    ['Replied (of accepted)', returned?.replied ?? null, base],
    ['Opted out (of accepted)', returned?.optedOut ?? null, base],
  ] as const;
}

interface Compared {
  readonly name: string;
  readonly funnel: Funnel;
  /** Rows below the stages, the same in all columns. */
  readonly more: readonly (readonly [title: string, cell: HtmlValue])[];
}

/** A column for each, so that any number of stages fits a narrow screen and paper. */
export function stagesTable(caption: string, compared: readonly Compared[], { number, percent }: Formats): Html {
  const cellOf = (count: number, whole: number | null) =>
    html`<span>${number(count)}${whole !== null && html` <span class="soft">${percent(count, whole)}</span>`}</span>`;
  const all = compared.map(({ funnel }) => stagesOf(funnel));
  const stages = (all[0] ?? []).flatMap(([title], i) => {
    const own = all.map((one) => one[i]);
    const cells = own.map((one) => (one?.[1] == null ? '-' : cellOf(one[1], one[2])));
    return own.some((one) => one?.[1] != null) ? [[title, ...cells]] : [];
  });
  const more = (compared[0]?.more ?? []).map(([title], i) => [
    title,
    ...compared.map((one) => one.more[i]?.[1] ?? '-'),
  ]);
  const columns = [{ title: 'Stage' }, ...figureColumns(...compared.map(({ name }) => name))];
  return table(caption, columns, [...stages, ...more]);
}
