import { readNamedText } from '../campaign/named-file.ts';
import { fromRoot } from '../campaign/project.ts';
import { CHANNELS } from '../content/channels.ts';
import { type PriceList, priceOf, readPrices } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type { Project, StepMessage } from '../model.ts';

const MAX_PRICES_BYTES = 1024 * 1024;

/** Null: the project has none, or it has errors. */
export async function readPriceList(
  project: Project,
): Promise<{ readonly prices: PriceList | null; readonly diagnostics: readonly Diagnostic[] }> {
  if (project.prices === null) return { prices: null, diagnostics: [] };
  const { root } = project;
  const file = fromRoot(root, project.prices);
  const read = await readNamedText(file, { root, folder: root, cwd: root, where: { at: { file } } }, MAX_PRICES_BYTES);
  return 'problem' in read
    ? { prices: null, diagnostics: [read.problem] }
    : readPrices(read.source.text, read.source.file);
}

/** @throws HandbillError exit 2 with all errors */
export async function loadPrices(project: Project): Promise<PriceList | null> {
  const { prices, diagnostics } = await readPriceList(project);
  const errors = diagnostics.filter((d) => d.severity === 'error');
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return prices;
}

/** The price in millionths of the currency; null: unknown. */
export function createPricer(prices: PriceList | null): (message: StepMessage) => number | null {
  if (prices === null) return () => null;
  const perPart = new Map(CHANNELS.map((channel) => [channel, new Map<string, number | null>()]));
  return ({ country, channel, sms }) => {
    const known = perPart.get(channel);
    const name = country ?? '*';
    let price = known?.get(name);
    if (price === undefined) {
      price = priceOf(prices, name, channel);
      known?.set(name, price);
    }
    return price === null ? null : price * (sms?.parts ?? 1);
  };
}
