import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import type { Received } from './receiver.ts';

/** A receiver in a process of its own. */
export interface ReceiverProcess extends Disposable {
  readonly url: string;
  /** What came since this was last asked; the receiver forgets it. */
  take(): Promise<Received>;
}

/** Starts receiver.ts. It ends with this process, however that ends. */
export async function startReceiverProcess(key: string): Promise<ReceiverProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'receiver.ts')], {
    env: { ...process.env, HANDBILL_API_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await firstLine(child.stdout);
  return {
    url,
    async take() {
      const response = await fetch(`${url}/receipts`);
      const received = (await response.json()) as Received;
      await fetch(`${url}/receipts`, { method: 'DELETE' });
      return received;
    },
    [Symbol.dispose]: () => void child.stdin.end(),
  };
}

async function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  let said = '';
  for await (const chunk of output) {
    said += String(chunk);
    if (said.includes('\n')) return said.trim();
  }
  throw new Error('The receiver did not start.');
}
