/** Loaded before handbill: a wall clock that is wrong by as many milliseconds as a file says at that moment. */
import { readFileSync } from 'node:fs';
import process from 'node:process';

const file = process.env['CLOCK_OFFSET_FILE'] ?? '';
const RealDate = Date;
const now = (): number => RealDate.now() + Number(readFileSync(file, 'utf8'));

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
