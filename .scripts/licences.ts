import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * The licences of the packages among bundled files, as comments to stand in front of them: licences want to stand in
 * every copy, and each bundle is one.
 *
 * @param files - relative to the root
 */
export function licencesOf(files: readonly string[]): string {
  const packages = new Set(files.flatMap((file) => packageOf(file)));
  return [...packages].map((path) => `/*! ${licenceOf(path)} */\n`).join('');
}

/** The folder of the package that a bundled file comes from, if it is not our own. */
function packageOf(file: string): string[] {
  const found = /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
  return found === null ? [] : [found[0]];
}

function licenceOf(path: string): string {
  const file = readdirSync(join(root, path)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${path} is bundled, and has no licence.`);
  const text = readFileSync(join(root, path, file), 'utf8')
    .trim()
    .replaceAll('*/', '* /');
  return `${path.replace('node_modules/', '')}\n\n${text}`;
}
