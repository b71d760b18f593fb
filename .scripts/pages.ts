/**
 * Makes dist/web/client/, what runs in the browser: each file directly below src/web/client that is named in `SCRIPTS`
 * becomes one script without imports, which pages hold inline, as they do their style. `npm run build` runs it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { SCRIPTS } from '../src/web/client-script.ts';
import { licencesOf } from './licences.ts';

const root = join(import.meta.dirname, '..');

/** @param folder - where they go: `web/client` of a build */
export function writePageParts(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of SCRIPTS) writeFileSync(join(folder, `${name}.js`), bundle(`${name}.ts`));
  writeFileSync(join(folder, 'style.css'), bundle('style.css'));
}

function bundle(file: string): string {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [join('src', 'web', 'client', file)],
    absWorkingDir: root,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    format: 'iife',
    // What browsers have had since 2023, when they all could decompress by themselves.
    target: ['chrome114', 'firefox115', 'safari17'],
    charset: 'utf8',
    logLevel: 'warning',
  });
  return licencesOf(Object.keys(metafile.inputs).filter((file) => !hasNotice(file))) + (outputFiles[0]?.text ?? '');
}

/** A notice of its own, with the address of the licence, which esbuild keeps: the whole text would be in every page. */
function hasNotice(file: string): boolean {
  return readFileSync(join(root, file), 'utf8').startsWith('/*! @license ');
}
