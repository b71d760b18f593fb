import { afterAll, beforeAll, expect } from 'vitest';
import { golden, printed } from '../helpers/golden.ts';
import { runnerOf } from '../helpers/here.ts';
import { createProject } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

const PEOPLE = 'msisdn,email,contact,name,points\n+447700900011,ana@example.com,c-1,Ana,12\n';

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(async () => {
  await server.close();
});

let nth = 0;

golden('a mistake in what is sent is refused before any request', 'e2e/wrong-content', async (input) => {
  const [campaign = '', ...files] = input.split('--- ');
  using project = createProject({
    'handbill.yaml': `environments:\n  prod:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: SOME_KEY }\n`,
    'hello/campaign.yaml': campaign,
    'hello/people.csv': PEOPLE,
    ...Object.fromEntries(files.map((file) => file.split(/\n(.*)/s))),
  });
  const args = ['send', 'hello', '--env', 'prod', '--yes'];
  const { status, stdout, stderr } = await runnerOf(nth++, 6)(args, { cwd: project.root, env: { SOME_KEY: 'k-1' } });
  expect({ status, stdout, connections: server.connections }).toEqual({ status: 2, stdout: '', connections: 0 });
  return printed(stderr);
});
