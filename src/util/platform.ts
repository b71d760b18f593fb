import process from 'node:process';

/**
 * Whether the mode of a file gives other users one of these rights. On Windows it says nothing: rights are in lists that
 * `stat` does not show, and every file looks as if all users could read and write it.
 */
export function grants(mode: number, rights: number, platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32' && (mode & rights) !== 0;
}

/** Whether folders can be opened to be synced to disk. Windows refuses that; its file system logs names by itself. */
export function canSyncFolders(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32';
}

/**
 * Whether Windows keeps this file name for a device, whatever its extension: a repository with such a file or folder
 * cannot be checked out there.
 */
export function isDeviceOnWindows(name: string): boolean {
  return /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i.test(name);
}
