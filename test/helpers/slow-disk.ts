import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Until the end of the scope the log of a ledger takes so long to get to the disk, where it is synced beside the loop: that
 * is so for the first eight commits of a start (src/ledger/disk-pace.ts). `begins` is told of each sync.
 */
export function slowDisk(ms: number, begins: () => void = () => undefined): Disposable {
  const { fdatasync } = fs;
  const set = (one: typeof fs.fdatasync): void => {
    fs.fdatasync = one;
    syncBuiltinESMExports();
  };
  const slow = (fd: number, done: fs.NoParamCallback): void => {
    begins();
    setTimeout(() => fdatasync(fd, done), ms);
  };
  set(Object.assign(slow, fdatasync));
  return { [Symbol.dispose]: () => set(fdatasync) };
}
