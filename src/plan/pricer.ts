import { type PriceList, priceOf } from '../content/price.ts';
import { CHANNELS, type LegMessage } from '../model.ts';

/** Makes what says the price of one message in millionths of the currency; null where it is not known. */
export function createPricer(prices: PriceList | null): (message: LegMessage) => number | null {
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
