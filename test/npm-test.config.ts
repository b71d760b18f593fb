import { mergeConfig } from 'vitest/config';
import { SAMPLES, WHOLE } from './settings.ts';
import every from './vitest.config.ts';

/** `npm test`: everything that `npm run test:proofs` does not run. */
export default mergeConfig(every, { test: { exclude: ['**/node_modules/**', ...WHOLE, ...SAMPLES] } });
