/** Writes down, a line each, the packages that a process loads: into the file that `LOADED` names. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

const file = process.env['LOADED'] ?? '';

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(found.url)?.[1];
    if (name !== undefined) appendFileSync(file, `${name}\n`);
    return found;
  },
});
