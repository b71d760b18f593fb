import { type PriceList, readPrices } from '../content/price.ts';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Project } from '../model.ts';
import { displayPath, readSmallFile } from '../util/paths.ts';

const MAX_PRICE_LIST_BYTES = 1024 * 1024;

/**
 * The project's price list; null without one. Prices are not sealed: they say what a plan costs, not what is sent.
 * Throws `HandbillError` (exit 2) where the list has an error.
 */
export async function loadPrices(project: Project): Promise<PriceList | null> {
  if (project.prices === null) return null;
  const file = displayPath(project.prices, project.root);
  const read = await readSmallFile(project.prices, MAX_PRICE_LIST_BYTES, file);
  if ('fault' in read) throw refuse(problem(read.fault.code, read.fault.message, { at: { file } }));
  const { prices, diagnostics } = readPrices(new TextDecoder().decode(read.bytes), file);
  const errors = diagnostics.filter((d) => d.severity === 'error');
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return prices;
}
