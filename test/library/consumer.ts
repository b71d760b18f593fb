import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { npm } from '../helpers/npm.ts';
import { pack } from '../helpers/pack.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');

/** A project of a user, with the packed package in its node_modules. */
export interface Consumer extends Disposable {
  readonly folder: string;
  /** Files of the package, by their path in it. */
  readonly packed: readonly string[];
  /** The package as the registry would have it. */
  readonly archive: string;
  write(path: string, text: string): void;
  /** Runs a program in its folder; throws with what it said where its exit status is not 0. */
  run(program: string, args: readonly string[]): string;
  node(...args: readonly string[]): string;
}

/**
 * Packs what would be published and puts it into an empty project. Dependencies are those of this clone, by name: one
 * that package.json does not name is not there. With `fromRegistry`, npm installs them.
 */
export function createConsumer({ fromRegistry = false } = {}): Consumer {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-consumer-')));
  const env = { PATH: `${dirname(NODE)}:${process.env['PATH']}`, HOME: process.env['HOME'], TZ: 'UTC', NO_COLOR: '1' };
  const run = (program: string, args: readonly string[]): string => {
    try {
      return execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
    }
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  try {
    const { archive, files } = pack(folder);
    write('package.json', '{ "name": "consumer", "private": true, "type": "module" }\n');
    if (fromRegistry) npm(['install', archive, TYPES], folder, env);
    else link(folder, archive);
    return {
      folder,
      archive,
      packed: files,
      write,
      run,
      node: (...args) => run(NODE, args),
      [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

const TYPES = `@types/node@${manifest().devDependencies['@types/node']}`;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function manifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
}

/** What `npm install` would do, with packages of this clone in the place of those of the registry. */
function link(folder: string, archive: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', modules]);
  cpSync(join(modules, 'package'), join(modules, 'handbill'), { recursive: true });
  rmSync(join(modules, 'package'), { recursive: true });
  symlinkSync('../handbill/dist/cli.js', join(modules, '.bin', 'handbill'));
  for (const name of [...Object.keys(manifest().dependencies), '@types/node']) {
    const source = join(ROOT, 'node_modules', name);
    if (!existsSync(source)) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(source, join(modules, name));
  }
}
