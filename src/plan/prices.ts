import { fromRoot } from '../campaign/project.ts';
import { CHANNELS } from '../content/channels.ts';
import { type PriceList, priceOf, readPrices } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError, problem } from '../errors.ts';
import type { Project, StepMessage } from '../model.ts';
import { readSmallFile } from '../util/paths.ts';

const MAX_PRICES_BYTES = 1024 * 1024;

/**
 * The price list of a project; null where it has none, or where something is wrong with it. It is not part of a plan file:
 * prices say what a plan costs, not what is sent.
 */
export async function readPriceList(
  project: Project,
): Promise<{ readonly prices: PriceList | null; readonly diagnostics: readonly Diagnostic[] }> {
  if (project.prices === null) return { prices: null, diagnostics: [] };
  const file = fromRoot(project.root, project.prices);
  const read = await readSmallFile(project.prices, MAX_PRICES_BYTES, file);
  if ('bytes' in read) return readPrices(Buffer.from(read.bytes).toString('utf8'), file);
  const { code, message, hint } = read.fault;
  return { prices: null, diagnostics: [problem(code, message, { at: { file }, hint })] };
}

/**
 * As `readPriceList`, for those who go on only with a sound list.
 *
 * @throws HandbillError exit 2 with everything that is wrong with it
 */
export async function loadPrices(project: Project): Promise<PriceList | null> {
  const { prices, diagnostics } = await readPriceList(project);
  const errors = diagnostics.filter((d) => d.severity === 'error');
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return prices;
}

/** Makes what says the price of one message in millionths of the currency; null where it is not known. */
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
