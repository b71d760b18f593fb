import { describe, expect, it } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { plan } from '../../src/operations/plan.ts';
import type { Estimate } from '../../src/plan/estimate.ts';
import { createProject } from '../helpers/project.ts';

const NOW = () => Date.UTC(2026, 10, 21, 9);
const HEAD = 'name: hello\nfrom: Riverside\nrecipients: people.csv\n';
const RCS = `${HEAD}channel: rcs\ntemplate: { text: "Hi {{name}}" }\n`;
const TESTED = `${HEAD}channel: sms
variants: [{ name: A, template: { text: A } }, { name: B, template: { text: B } }]
test: 20%
`;
const NAMES = Array.from({ length: 20 }, (_, i) => `+44770090${100 + i}0,N${i}\n`);

async function planned(campaign: string, prices = ''): Promise<Estimate> {
  using here = createProject({
    'handbill.yaml': prices === '' ? '{}\n' : 'prices: prices.csv\n',
    'prices.csv': `country,channel,price,currency\n${prices}`,
    'hello/campaign.yaml': campaign,
    'hello/people.csv': `msisdn,name\n${NAMES.join('')}`,
  });
  return (await plan('hello', { cwd: here.root, now: NOW })).estimate;
}

const FALLBACKS = 'fallback: [{ channel: voice, template: { text: Hi } }, { channel: sms, template: { text: Hi } }]\n';

const COSTS = [
  { label: 'a more expensive fallback', prices: '*,*,0.05,EUR\n*,rcs,0.02,EUR\n', low: 0.4, high: 1, unpriced: 0 },
  { label: 'a cheaper fallback', prices: '*,*,0.05,EUR\n*,sms,0.01,EUR\n', low: 0.2, high: 1, unpriced: 0 },
  { label: 'a fallback without a price', prices: '*,rcs,0.02,EUR\n*,sms,0.05,EUR\n', low: 0.4, high: 1, unpriced: 20 },
  { label: 'no price but that of the last', prices: '*,sms,0.05,EUR\n', low: 0, high: 1, unpriced: 20 },
];

describe('the cost of a campaign with fallbacks is a range', () => {
  it.each(COSTS)('$label', async ({ prices, low, high, unpriced }) => {
    const { fallback, ...estimate } = await planned(RCS + FALLBACKS, prices);
    expect(fallback?.costMicros).toEqual({ low: low * 1e6, high: high * 1e6 });
    expect(estimate.unpriced).toBe(unpriced);
  });
});

/** 19 of 20 wait at most, and each variant is a part of its own length. */
const LONGER = TESTED.replace('{ text: B }', `{ text: "${'B'.repeat(200)}" }`);

describe('limits hold for the whole campaign', () => {
  it('a row that waits for the winner of a test counts as a recipient', async () => {
    const { send, deferred } = await planned(`${TESTED}limits: { maxRecipients: 20 }\n`);
    expect(send).toBeLessThan(15);
    expect(send + (deferred['winner-undecided'] ?? 0)).toBe(20);
    const refused = await planned(`${TESTED}limits: { maxRecipients: 15 }\n`).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(HandbillError);
    expect(refused).toMatchObject({ code: 'too-many-recipients', message: expect.stringMatching(/^20 recipients/) });
  });

  it('the most expensive and the longest message count for those who wait', async () => {
    const { send, costMicros, waiting, longest, unpriced } = await planned(LONGER, '*,*,0.05,EUR\n');
    expect(costMicros).toBeLessThanOrEqual(send * 0.1e6);
    expect(waiting).toEqual({ low: (20 - send) * 0.05e6, high: (20 - send) * 0.1e6 });
    expect(longest?.parts).toBe(2);
    expect(unpriced).toBe(0);
    const limits = { maxCost: 1, maxParts: 1 };
    const refused = await planned(`${LONGER}limits: ${JSON.stringify(limits)}\n`, '*,*,0.05,EUR\n').catch((e) => e);
    expect(refused.diagnostics).toMatchObject([{ code: 'too-many-parts' }, { code: 'too-expensive' }]);
  });

  it('a limit of cost that cannot be judged refuses', async () => {
    const codes = (prices?: string) =>
      planned(`${LONGER}limits: { maxCost: 100 }\n`, prices).then(
        () => [],
        (error: HandbillError) => error.diagnostics.map(({ code, at }) => `${code} ${at?.line ?? '-'}`),
      );
    expect(await codes()).toEqual(['no-price -']);
    expect(await codes('FR,*,0.05,EUR\n')).toEqual(['no-price 2']);
    expect(await codes('*,*,0.05,EUR\n')).toEqual([]);
  });
});
