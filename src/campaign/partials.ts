import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import type { InputFile, SourceText } from '../model.ts';
import { displayPath, findFileInside, findFolderInside } from '../util/paths.ts';
import { fromRoot } from './project.ts';
import { faultAt, readTemplateFile } from './read-text.ts';

export interface PartialsOptions {
  /** Real path of the project's root. */
  readonly root: string;
  /** Real path of the campaign's folder. */
  readonly folder: string;
  /** Real paths of the templates, which are no partials. */
  readonly templates: ReadonlySet<string>;
  /** The folder that handbill.yaml names, relative to the root, and where it does. */
  readonly shared: { readonly path: string; readonly where: Partial<Diagnostic> } | null;
  readonly cwd: string;
}

/** A partial that could not be read; it only matters to those who include it. */
export interface ReadPartial {
  readonly result: { readonly source: SourceText; readonly input: InputFile } | { readonly problem: Diagnostic };
}

export interface PartialsReading {
  readonly partials: ReadonlyMap<string, ReadPartial>;
  readonly diagnostics: readonly Diagnostic[];
}

/** More files than this in one folder are not partials of a campaign. */
const MAX_PARTIALS = 500;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads the partials that a campaign may include, by name (the file's name without `.hbs`): of the project's folder, of
 * the campaign's folder, of its `partials/`. A later one hides an earlier one of the same name.
 */
export async function readPartials(options: PartialsOptions): Promise<PartialsReading> {
  const { root, folder, shared } = options;
  const diagnostics: Diagnostic[] = [];
  const files = new Map<string, string>();
  if (shared !== null) {
    const found = await findFolderInside(root, root, shared.path);
    if ('fault' in found) diagnostics.push(faultAt(found.fault, shared.where));
    else await addFiles(files, found.path);
  }
  await addFiles(files, folder);
  const own = await findFolderInside(root, folder, 'partials');
  if ('path' in own) await addFiles(files, own.path);
  const partials = new Map<string, ReadPartial>();
  for (const [name, path] of files) {
    if (!options.templates.has(path)) partials.set(name, await readPartial(name, path, options));
  }
  return { partials, diagnostics };
}

async function addFiles(files: Map<string, string>, folder: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch {
    return;
  }
  const templates = names.filter((name) => name.endsWith('.hbs') && name !== '.hbs').sort();
  for (const name of templates.slice(0, MAX_PARTIALS)) files.set(basename(name, '.hbs'), join(folder, name));
}

async function readPartial(name: string, path: string, options: PartialsOptions): Promise<ReadPartial> {
  const file = displayPath(path, options.cwd);
  const where = { at: { file } };
  if (FORBIDDEN.has(name)) {
    return { result: { problem: problem('yaml-forbidden-key', `A partial cannot be named "${name}".`, where) } };
  }
  // Found anew: a link in the folder may lead out of the project.
  const found = await findFileInside(options.root, options.root, fromRoot(options.root, path));
  if ('fault' in found) return { result: { problem: faultAt(found.fault, where) } };
  const read = await readTemplateFile(found.path, file, where);
  if ('problem' in read) return { result: read };
  const input: InputFile = { role: 'partial', file: fromRoot(options.root, path), sha256: read.sha256 };
  return { result: { source: read.source, input } };
}

/**
 * The names of the partials that texts include, directly or through other partials. An expression as the name can mean
 * any of them.
 */
export function includedPartials(
  texts: readonly string[],
  partials: ReadonlyMap<string, ReadPartial>,
): ReadonlySet<string> {
  const included = new Set<string>();
  const open = [...texts];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    for (const [, quoted, plain, dynamic] of text.matchAll(INCLUDE)) {
      const names = dynamic === undefined ? [quoted ?? plain ?? ''] : [...partials.keys()];
      for (const name of names) {
        const result = partials.get(name)?.result;
        if (result === undefined || included.has(name)) continue;
        included.add(name);
        if ('source' in result) open.push(result.source.text);
      }
    }
  }
  return included;
}

const INCLUDE = /\{\{~?#?>\s{0,100}(?:["'[]([^"'\]]{1,200})["'\]]|([^\s"'()[\]{}|~]{1,200})|(\())/g;
