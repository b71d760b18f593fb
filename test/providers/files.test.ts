import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { builtIn, parseProvider, providerNames } from '../../src/campaign/read-provider.ts';

/** They are not checked at a start. */
it.each(providerNames())('the file of %s is right, and read as it is without checks', (name) => {
  const bytes = readFileSync(new URL(`../../src/providers/${name}.yaml`, import.meta.url));
  expect(parseProvider(name, bytes, `${name}.yaml`)).toEqual(builtIn(name));
});
