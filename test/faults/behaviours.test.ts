import process from 'node:process';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BEHAVIOURS } from './behaviours.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';
import { scenarios } from './places.ts';
import { runScenario } from './run-scenario.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
/** Processes of handbill at a time, on machines with two cores; a third one uses the time that others wait. */
const room = pLimit(FULL ? 3 : 2);

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe.concurrent('a server that misbehaves towards one recipient', () => {
  // Not it.each, which cuts long titles, and the place is at their end. 5 minutes: they wait for each other.
  for (const scenario of scenarios(BEHAVIOURS, FULL)) {
    it(scenario.title, { timeout: 300_000 }, async () => {
      await room(async () => await runScenario(server, scenario));
    });
  }
});

describe('the table of behaviours', () => {
  it('has names that are used once', () => {
    expect(new Set(BEHAVIOURS.map(({ name }) => name)).size).toBe(BEHAVIOURS.length);
    expect(BEHAVIOURS.length).toBeGreaterThanOrEqual(45);
  });
});
