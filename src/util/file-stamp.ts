import { stat } from 'node:fs/promises';

/**
 * Changes when files are written or replaced, without reading them: device, inode, size and time of each. A missing
 * file counts as a state of its own.
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
