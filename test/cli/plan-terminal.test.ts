import { expect, it } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const FILES = {
  'handbill.yaml': 'prices: prices.csv\n',
  'prices.csv': 'country,price,currency\nGB,0.04,EUR\n',
  'hello/campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\nsuppressions: gone.csv\n',
  'hello/people.csv': 'msisdn,name\n+447400123456,Ada\n+447400123457,Bo\n+447400123458,Cy\n',
  'hello/gone.csv': 'msisdn\n+447400123457\n',
};

it('a terminal gets the figures of a plan, a pipe and a file the plan', async () => {
  const { root, remove } = await projectWith(FILES);
  try {
    const shown = await handbillHere(root, ['plan', 'hello'], { outIsTerminal: true });
    expect(shown.status).toBe(0);
    expect(shown.out).toContain('Plan of hello (once), environment sandbox');
    expect(shown.out).toMatch(/^to send +2, 2 parts$/m);
    expect(shown.out).toMatch(/^cost +0\.08 EUR$/m);
    expect(shown.out).toMatch(/^skipped +1 suppressed$/m);
    expect(shown.out).toContain('-o FILE');
    expect(shown.out).not.toContain('{');
    const piped = await handbillHere(root, ['plan', 'hello']);
    expect(JSON.parse(piped.out)).toMatchObject({ version: 1, estimate: { send: 2 } });
    const written = await handbillHere(root, ['plan', 'hello', '-o', 'x.json'], { outIsTerminal: true });
    expect(written.out).toBe('');
    expect(written.err).toContain('Planned: 2 recipients, 2 parts, 0.08 EUR; skipped: 1 suppressed. Send it with');
  } finally {
    await remove();
  }
});
