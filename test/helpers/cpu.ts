import process from 'node:process';

/**
 * CPU time of this thread, without what others do beside it. Bounds are ten times what a busy machine needs, and texts so
 * long that work which grows with their square takes ten times the bound.
 */
export function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
