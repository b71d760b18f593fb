import { stat } from 'node:fs/promises';

/**
 * What shows that files were written or replaced, without reading them: device, inode, size and time of each. One that is
 * not there has none, and that is told apart too.
 */
export async function fileStamp(paths: readonly string[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    } catch {
      return '';
    }
  });
  return (await Promise.all(stamps)).join('\n');
}
