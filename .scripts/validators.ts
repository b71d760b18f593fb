/**
 * Makes dist/campaign/validators.cjs, the JSON Schemas of campaign and project as code that validates, so that no
 * command has to load Ajv and compile them. The build writes it; where it is missing or was made from other schemas,
 * `src/campaign/validators.ts` compiles them.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import { transformSync } from 'esbuild';
import { BUILT, createAjv, schemaFingerprint } from '../src/campaign/validators.ts';

/** The text of the file. */
export function validatorsSource(): string {
  // The code is written once and loaded at every start: what the optimiser saves, 50 KB, is worth its time here.
  const ajv = createAjv({ code: { source: true, optimize: true } });
  const code = standalone.default(ajv, { campaign: 'campaign.schema.json', project: 'project.schema.json' });
  // V8 keeps the whole text in memory, and it is read at every start.
  const { code: short } = transformSync(code, { minify: true, charset: 'ascii' });
  return `${HEAD}${short}exports.fingerprint = '${schemaFingerprint()}';\n`;
}

const HEAD = '// Made from schemas/ by .scripts/validators.ts, which `npm run build` runs: change nothing here.\n';

/** @param folder - where they go: `campaign` of a build */
export function writeValidators(folder: string): void {
  writeFileSync(join(folder, basename(BUILT)), validatorsSource());
}
