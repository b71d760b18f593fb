/** Rounded down, so that what is just below a limit does not read as if it were the limit. */
export function percentDown(part: number): string {
  return written(Math.floor(part * 1000 + ROUNDING) / 10);
}

/** Rounded up, for what is just above a limit. */
export function percentUp(part: number): string {
  return written(Math.ceil(part * 1000 - ROUNDING) / 10);
}

/** Shares are no exact doubles. */
const ROUNDING = 1e-9;

function written(percent: number): string {
  return `${percent.toFixed(1).replace(/\.0$/, '')} %`;
}
