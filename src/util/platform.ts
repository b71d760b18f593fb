import process from 'node:process';

/** Always false on Windows: rights are in lists that `stat` does not show, and each mode looks open to all. */
export function grants(mode: number, rights: number, platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32' && (mode & rights) !== 0;
}

/** Whether folders can be opened to be synced to disk. Windows refuses that; its file system logs names by itself. */
export function canSyncFolders(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32';
}

/** Whatever its extension. A repository with such a file or folder cannot be checked out on Windows. */
export function isDeviceOnWindows(name: string): boolean {
  return /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i.test(name);
}
