import { hostname, userInfo } from 'node:os';

/** Who runs this, for the history; `unknown` where the system does not say. */
export function userHere(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In containers a process may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
