import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

/** A gate that is shut by its first recipient, in a folder whose name is two words for a shell. */
const HALTED = `name: halted
channel: sms
from: Riverside
template: { text: Hi }
recipients:
  - msisdn: "+447700900422"
  - msisdn: "+447700900002"
send: { canary: { steps: [1] } }
schedule: { cron: "0 9 * * *", timeZone: UTC, missed: catch-up }
`;

let root = '';
let remove = async (): Promise<void> => undefined;
beforeAll(async () => {
  ({ root, remove } = await projectWith({ 'handbill.yaml': '{}\n', 'campaigns/my own/campaign.yaml': HALTED }));
});
afterAll(() => remove());

const now = (): number => Date.parse('2026-11-21T09:01:00Z');

describe('commands that are printed can be pasted, whatever files are called', () => {
  it.each([
    [['plan', 'my own', '-o', 'my plan.json'], "handbill send --plan 'my plan.json'"],
    [['due'], 'handbill send halted --occurrence 2026-11-21T09:00:00Z --allow input-changed'],
    [['due'], 'handbill send halted --occurrence 2026-11-21T09:00:00Z\n'],
  ])('%j', async (args, command) => {
    const { out, err } = await handbillHere(root, args, { now, width: 200 });
    expect(out + err).toContain(command);
  });
});
