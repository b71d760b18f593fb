import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files by their path below the project's root. */
export type ProjectFiles = Readonly<Record<string, string | Uint8Array>>;

/** A project in a folder of its own, removed at the end of `using`. */
export interface TestProject extends Disposable {
  readonly root: string;
  path(name: string): string;
  write(name: string, content: string | Uint8Array): void;
  /** Every regular file below the root with its bytes, whichever process wrote it. */
  contents(): ReadonlyMap<string, Buffer>;
}

/** Makes a project from a plain object of files, in the folder for temporary files. */
export function createProject(files: ProjectFiles): TestProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-project-')));
  const path = (name: string): string => join(root, name);
  const write = (name: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  return {
    root,
    path,
    write,
    contents() {
      const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      return new Map(
        entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name))]),
      );
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
