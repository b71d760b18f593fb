/**
 * Preloaded (`--require`) into every process that is measured: at its end it writes what it used to the file that
 * HANDBILL_BENCH_USAGE names. So the figures are the kernel's own, of the whole process, with all its threads. It is
 * plain CommonJS because types to strip would cost each process 50 ms more, and an empty script would not be empty.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const process = require('node:process');

const target = process.env['HANDBILL_BENCH_USAGE'];
if (target !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage = { cpuUs: userCPUTime + systemCPUTime, peakBytes: highWaterMark() ?? maxRSS * 1024 };
    writeFileSync(target, JSON.stringify(usage));
  });
}

/** `maxRSS` counts what the parent held when it forked; Linux knows the peak of this program alone. */
function highWaterMark() {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
