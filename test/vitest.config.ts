import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more workers only fight for them, and many tests start processes of their own.
    maxWorkers: 2,
    // Once more where a busy machine took too long; never where something was not as expected, which a second try
    // would only hide.
    retry: { count: 1, condition: /^(?:Test timed out|waited \d+ ms in vain)/ },
  },
});
