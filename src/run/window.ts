import type { Due, Parcel } from './parcel.ts';
import type { Shift } from './shift.ts';

/** Is the window of anybody closed? */
export function isAnyClosed(due: Parcel, { window }: Shift): boolean {
  return window !== null && due.some(({ decision }) => window.closed(decision.recipient) !== null);
}

/** Sets aside whose window is closed, and gives the others back; null where nobody is left. */
export async function whoIsOpen(due: Parcel, shift: Shift): Promise<Parcel | null> {
  if (!isAnyClosed(due, shift)) return due;
  // Whoever was just refused, or fell back, is pending when that is written, and only then can be set aside.
  await shift.groupCommit.written();
  if (shift.stopped.aborted) return null;
  const [first, ...rest] = due.filter((one) => !setAside(one, shift));
  return first === undefined ? null : [first, ...rest];
}

/** Defers or skips somebody whose row is pending, and says whether it did: the window may be open. */
export function setAside({ decision, leg }: Due, { window, aside }: Shift): boolean {
  const closed = window?.closed(decision.recipient) ?? null;
  if (closed === null) return false;
  aside(decision.row, leg, closed);
  return true;
}
