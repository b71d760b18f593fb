import { expect, it } from 'vitest';
import { startCli } from '../helpers/cli.ts';
import { CANARY_KEY, createScene } from '../oracle/scene.ts';
import { createGate, pause, startApi } from '../processes/api.ts';

const ROWS = 60;

it('two campaigns that are started at once send no recipient more than the cap allows', async () => {
  // No recipient gets an answer before both have made a request: so each has read the history of the other before it began.
  const gate = createGate();
  await using api = await startApi((number) => {
    if (number === 2) gate.open();
    return { after: gate.opened.then(() => pause(5)) };
  });
  const rule = 'frequency: { max: 1, per: day }';
  using scene = createScene({ rows: ROWS, baseUrl: api.url, receipts: api.receipts, campaign: rule });
  const [head = '', ...people] = scene.contents().get(scene.path('people.csv'))?.toString().trimEnd().split('\n') ?? [];
  scene.write('backwards.csv', `${[head, ...people.toReversed()].join('\n')}\n`);
  scene.write(
    'second.yaml',
    `name: second\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: backwards.csv\n${rule}\n`,
  );
  const options = { cwd: scene.root, env: { HANDBILL_API_KEY: CANARY_KEY } };
  const senders = ['campaign.yaml', 'second.yaml'].map((file) =>
    startCli(['send', file, '--env', 'test', '--yes'], options),
  );
  for (const { done } of senders) expect(await done).toMatchObject({ status: 0 });
  expect(api.numbers().toSorted()).toEqual([...new Set(api.numbers())].toSorted());
  const endings = [...scene.endings(), ...scene.endings({ campaign: 'second' })];
  const reasons = endings.map(({ outcome, reason }) => `${outcome} ${reason ?? ''}`).toSorted();
  expect(reasons).toEqual([
    ...Array.from({ length: ROWS }, () => 'accepted '),
    ...Array.from({ length: ROWS }, () => 'skipped frequency-cap'),
  ]);
  // Neither had it all to itself: the claims of both met in the middle.
  for (const one of [scene.endings(), scene.endings({ campaign: 'second' })]) {
    expect(one.filter(({ outcome }) => outcome === 'accepted').length).toBeGreaterThan(0);
  }
});
