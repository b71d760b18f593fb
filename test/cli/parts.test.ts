import { describe, expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

/** GSM-7 texts of several parts hold 153 characters in each. */
const TEXTS = (parts: number): string => 'x'.repeat(153 * parts);

function projectOf(parts: number, limits = '') {
  return createProject({
    'campaigns/long/campaign.yaml': `name: long\nchannel: sms\nfrom: Riverside\ntemplate: { text: "{{text}}" }
recipients: people.csv\n${limits}`,
    'campaigns/long/people.csv': `msisdn,text\n+447700900001,Hi\n+447700900002,${TEXTS(parts)}\n+447700900003,${TEXTS(2)}\n`,
  });
}

const COMMANDS = ['validate long', 'preview long --limit 0', 'plan long', 'send long'];

describe('SMS of many parts', () => {
  it.each(COMMANDS)('of up to 3 parts are nothing to speak of: %s', async (line) => {
    using project = projectOf(3);
    const { status, err, out } = await handbillHere(project.root, line.split(' '));
    expect(status).toBe(0);
    expect(err + out).not.toContain('too-many-parts');
  });

  it.each(COMMANDS)('of more than 3 parts are warned about once, with the worst row: %s', async (line) => {
    using project = projectOf(10);
    const { status, err, out } = await handbillHere(project.root, line.split(' '));
    expect(status).toBe(0);
    expect((err + out).match(/warning\[too-many-parts\]: SMS have up to 10 parts each/g)).toHaveLength(1);
    expect(err + out).toContain('people.csv:3');
  });

  it.each(COMMANDS)('of more than 10 parts are refused: %s', async (line) => {
    using project = projectOf(11);
    const { status, err, out } = await handbillHere(project.root, line.split(' '));
    expect(status).toBe(2);
    expect(err + out).toContain(
      'error[too-many-parts]: A message has 11 parts; without limits.maxParts, 10 are allowed.',
    );
    expect(err + out).not.toContain('warning[too-many-parts]');
  });

  it.each(COMMANDS)('are as many as limits.maxParts says, without a word: %s', async (line) => {
    using project = projectOf(11, 'limits: { maxParts: 11 }\n');
    const { status, err, out } = await handbillHere(project.root, line.split(' '));
    expect(status).toBe(0);
    expect(err + out).not.toContain('too-many-parts');
  });
});
