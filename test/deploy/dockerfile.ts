import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const DEPLOY = join(import.meta.dirname, '..', '..', 'docs', 'deploy');

/** An instruction of a Dockerfile: `RUN` and what follows it, with lines that go on joined to one. */
export interface Instruction {
  readonly keyword: string;
  readonly rest: string;
}

export function readDockerfile(): readonly Instruction[] {
  const text = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '');
  return [...text.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, keyword = '', rest = '']) => ({ keyword, rest }));
}

/** What a container is started with. */
export interface Image {
  readonly workingFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: string;
}

/**
 * Does what an engine does with the Dockerfile, in a folder in the place of the root of the image.
 *
 * @param context - the folder that is built from
 * @param root - absolute paths of the image that it makes lie below it
 * @param run - runs a command line in a shell
 */
export function buildImage(context: string, root: string, run: (command: string, cwd: string) => void): Image {
  const inRoot = (text: string): string => text.replaceAll(/(?<![\w.])\/(?=campaigns|var\/lib)/g, `${root}/`);
  let image: Image = {
    workingFolder: root,
    env: {},
    user: { uid: 0, gid: 0 },
    entrypoint: [],
    command: [],
    healthCheck: '',
  };
  for (const { keyword, rest } of readDockerfile()) image = { ...image, ...step(keyword, rest) };
  return image;

  function step(keyword: string, rest: string): Partial<Image> {
    if (keyword === 'FROM') return {};
    if (keyword === 'WORKDIR') {
      mkdirSync(inRoot(rest), { recursive: true });
      return { workingFolder: inRoot(rest) };
    }
    if (keyword === 'COPY') {
      copyInto(context, image.workingFolder, rest.split(' ').slice(0, -1));
      return {};
    }
    if (keyword === 'RUN') {
      // The cache that is mounted is that of this machine, which has the packages already.
      run(inRoot(rest.replaceAll(/--mount=\S+ | --cache \S+/g, '')), image.workingFolder);
      return {};
    }
    if (keyword === 'ENV') {
      const [name = '', value = ''] = rest.split('=');
      return { env: { ...image.env, [name]: inRoot(value) } };
    }
    if (keyword === 'USER') {
      const [uid, gid] = rest.split(':').map(Number);
      return { user: { uid: uid ?? 0, gid: gid ?? 0 } };
    }
    if (keyword === 'HEALTHCHECK') return { healthCheck: rest.replace(/^.*?CMD /, '') };
    if (keyword === 'ENTRYPOINT') return { entrypoint: JSON.parse(rest) as string[] };
    if (keyword === 'CMD') return { command: JSON.parse(rest) as string[] };
    throw new Error(`The test does not know how to do ${keyword}.`);
  }
}

function copyInto(context: string, folder: string, sources: readonly string[]): void {
  const left = ignored();
  const names = sources.includes('.') ? readdirSync(context) : sources;
  for (const name of names.filter((one) => !left.some((pattern) => pattern.test(one)))) {
    cpSync(join(context, name), join(folder, name), { recursive: true });
  }
}

/** The names that .dockerignore has, in any folder or at the root alone; the test puts nothing deeper. */
export function ignored(): readonly RegExp[] {
  const lines = readFileSync(join(DEPLOY, '.dockerignore'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, deep = '', name = ''] = /^(\*\*\/)?(.*)$/.exec(line) ?? [];
      return new RegExp(`^${deep === '' ? '' : '(?:.*/)?'}${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
    });
}
