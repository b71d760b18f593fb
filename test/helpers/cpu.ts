import process from 'node:process';

/** CPU time of this process in ms: steadier than the clock where other tests run beside. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
