import { test } from 'vitest';
import { expectAgreed } from './reported-money.ts';

test('a fallback by report has its variant, and both of its messages cost what the budget counted', async () => {
  await expectAgreed();
});
