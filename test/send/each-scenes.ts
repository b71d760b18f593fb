import { describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { type DueResult, due } from '../../src/operations/due.ts';
import { person } from '../../src/operations/person.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { startCli, until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { type Answer, type Api, createGate, startApi } from '../processes/api.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const HOUR = 3_600_000;
const MINUTE = 60_000;
/** A Monday, a minute after the schedule. */
const MONDAY = Date.parse('2026-11-30T06:01:00Z');

interface Scene {
  readonly rows: readonly string[];
  readonly each?: string;
  readonly more?: string;
}

const listOf = (rows: readonly string[]): string => `msisdn,id,visit\n${rows.map((row) => `${row}\n`).join('')}`;

function project(
  api: Pick<Api, 'url'>,
  { rows, each = '{ column: visit, before: 2h }', more = '' }: Scene,
): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${api.url}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    'campaigns/visits/campaign.yaml': `name: visits\nchannel: sms\nfrom: Riverside\ntimeZone: Europe/London
template: { text: "{{id}} {{visit}}" }\nrecipients: { csv: list.csv, key: id }\nschedule: { cron: "0 6 * * *" }
send:\n  concurrency: 1\n  each: ${each}\n${more}`,
    'campaigns/visits/list.csv': listOf(rows),
  });
}

/** The same scenes with a ledger in a file and in PostgreSQL. */
export function describeEach(where: string, place: () => Promise<string | undefined>): void {
  const begin = async (scene: Scene, behave?: (number: number) => Answer) => {
    const [api, ledger] = [await startApi(behave), await place()];
    const here = project(api, scene);
    const at = (nowMs: number) => ({
      cwd: here.root,
      env: KEY,
      now: () => nowMs,
      environment: 'test',
      random: () => 0,
      confirm: async () => true,
      ...(ledger === undefined ? {} : { ledger }),
    });
    const outcomes = (occurrence: string): readonly string[] => {
      using opened = openLedger(ledger ?? here.path('.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() * 2 });
      const run = opened.findRun({ environment: 'test', campaign: 'visits', occurrence });
      if (run === null) return [];
      return [...opened.outcomes(run)].flat().map(({ key, outcome, reason }) => {
        return [key?.replace(/\|.*T/, ' ').slice(0, -4), outcome, reason].filter(Boolean).join(' ');
      });
    };
    return {
      api,
      here,
      ledger,
      outcomes,
      list: (rows: readonly string[]) => here.write('campaigns/visits/list.csv', listOf(rows)),
      due: async (nowMs: number): Promise<readonly string[]> => brief(await due([], at(nowMs))),
      send: async (nowMs: number, more: Partial<SendOptions> = {}) => await send('visits', { ...at(nowMs), ...more }),
      /** What it says of each row. */
      previewed: async (nowMs: number) => {
        const said: string[] = [];
        const shown = await previewRows('visits', { ...at(nowMs), at: nowMs });
        for await (const batch of shown.batches) {
          for (const { decision } of batch) {
            const why = 'reason' in decision ? ` ${decision.reason}` : '';
            const detail = 'detail' in decision && decision.detail !== undefined ? `: ${decision.detail}` : '';
            said.push(`${decision.decision}${why}${detail}`);
          }
        }
        shown.close();
        return said;
      },
      person: async (key: string) => await person(key, at(MONDAY)),
      /** `ann 2026-11-30 09:00`, in the order of arrival. */
      arrived: (): readonly string[] =>
        readReceipts(api.receipts).map(({ text }) => /"text":"([^"]+)"/.exec(text)?.[1] ?? text),
      async [Symbol.asyncDispose]() {
        here[Symbol.dispose]();
        await api[Symbol.asyncDispose]();
      },
    };
  };

  const [ANN, BOB, CY] = ['+447400123456,ann', '+447400123457,bob', '+447400123458,cy'];
  const LIST = [`${ANN},2026-11-30 09:00`, `${BOB},2026-11-30 15:30`, `${CY},2026-12-01 12:00`];

  describe(`a time for each row, ${where}`, () => {
    it('goes out some time before it, and due goes on with those that wait', async () => {
      await using one = await begin({ rows: LIST });
      await one.due(MONDAY - 24 * HOUR);
      one.list(LIST);
      expect(await one.previewed(MONDAY)).toEqual([
        'defer too-early: goes out 2026-11-30 07:00 in Europe/London',
        'defer too-early: goes out 2026-11-30 13:30 in Europe/London',
        'defer too-early: goes out 2026-12-01 10:00 in Europe/London',
      ]);
      expect(await one.due(MONDAY)).toContain('send 2026-11-30T06:00:00Z');
      expect(one.arrived()).toEqual([]);
      expect(await one.due(MONDAY + 58 * MINUTE)).toEqual(['leave waiting 2026-11-30T06:00:00Z']);
      expect(await one.due(MONDAY + 59 * MINUTE)).toEqual(['continue 2026-11-30T06:00:00Z']);
      expect(one.arrived()).toEqual(['ann 2026-11-30 09:00']);
      expect(await one.due(MONDAY + 2 * HOUR)).toEqual(['leave waiting 2026-11-30T06:00:00Z']);
      expect(await one.due(MONDAY + 8 * HOUR)).toEqual(['continue 2026-11-30T06:00:00Z']);
      expect(one.arrived()).toEqual(['ann 2026-11-30 09:00', 'bob 2026-11-30 15:30']);
    });

    it('once for each recipient and time, though a schedule reads the list every day', async () => {
      await using one = await begin({ rows: LIST });
      await one.send(MONDAY);
      await one.send(MONDAY + HOUR);
      await one.send(MONDAY + 8 * HOUR);
      const tuesday = MONDAY + 24 * HOUR;
      await one.send(tuesday);
      expect(one.outcomes('2026-11-30T06:00:00Z')).toEqual([
        'ann 09:00 accepted',
        'bob 15:30 accepted',
        'cy 12:00 skipped removed',
      ]);
      await one.send(tuesday + 4 * HOUR);
      // Those whose time has passed need no history to be left alone.
      expect(one.outcomes('2026-12-01T06:00:00Z')).toEqual([
        'ann 09:00 skipped expired',
        'bob 15:30 skipped expired',
        'cy 12:00 accepted',
      ]);
      expect(one.arrived()).toEqual(['ann 2026-11-30 09:00', 'bob 2026-11-30 15:30', 'cy 2026-12-01 12:00']);
      // The same morning once more, by hand: the time is still to come.
      await one.send(tuesday + 4 * HOUR + MINUTE, { occurrence: 'again' });
      expect(one.outcomes('again').at(-1)).toBe('cy 12:00 skipped excluded');
      expect(await one.previewed(tuesday + 4 * HOUR + MINUTE)).toContainEqual(expect.stringContaining('done'));
      expect(one.arrived().length).toBe(3);
    });

    it('that has passed expires, also for a person who has reached a cap', async () => {
      const rows = [`${ANN},2026-11-30 09:00`, `${BOB},2026-11-30 15:30`];
      await using one = await begin({ rows, more: 'frequency: { max: 1, per: week }\n' });
      await one.send(MONDAY + 2 * HOUR);
      await one.send(MONDAY + 24 * HOUR, { occurrence: 'again' });
      expect(one.outcomes('again')).toEqual(['ann 09:00 skipped expired', 'bob 15:30 skipped expired']);
    });

    it('a time that moved is a new one, and the old one goes', async () => {
      await using one = await begin({ rows: LIST });
      await one.send(MONDAY + HOUR);
      one.list([`${ANN},2026-11-30 11:00`, `${BOB},2026-11-30 16:30`, `${BOB},2026-12-01 09:00`]);
      await one.send(MONDAY + 2 * HOUR, { occurrence: 'later' });
      expect(one.outcomes('2026-11-30T06:00:00Z')).toEqual([
        'ann 09:00 accepted',
        'bob 15:30 skipped removed',
        'cy 12:00 skipped removed',
      ]);
      await one.send(MONDAY + 9 * HOUR, { occurrence: 'later' });
      // Ann's new time was missed while nothing ran; Bob has two.
      expect(one.outcomes('later')).toEqual([
        'ann 11:00 skipped expired',
        'bob 16:30 accepted',
        'bob 09:00 deferred too-early',
      ]);
      expect(one.arrived()).toEqual(['ann 2026-11-30 09:00', 'bob 2026-11-30 16:30']);
      expect((await one.person('bob')).messages.map(({ outcome }) => outcome.key).toSorted()).toEqual([
        'bob|2026-11-30T15:30:00Z',
        'bob|2026-11-30T16:30:00Z',
        'bob|2026-12-01T09:00:00Z',
      ]);
    });

    it('a run says beforehand which older one it takes over', async () => {
      await using one = await begin({ rows: LIST });
      await one.send(MONDAY);
      const { diagnostics } = await one.send(MONDAY + MINUTE, { occurrence: 'later' });
      expect(diagnostics.filter(({ code }) => code === 'run-open').map(({ message }) => message)).toEqual([
        'An older run of this campaign (2026-11-30T06:00:00Z) is open: 3 recipients. This one takes over: those of them that its list does not have are not sent to.',
      ]);
      const again = await one.send(MONDAY + 2 * MINUTE, { occurrence: 'later' });
      expect(again.diagnostics.filter(({ code }) => code === 'run-open')).toEqual([]);
    });

    it('in an amended list too', async () => {
      await using one = await begin({ rows: LIST });
      await one.send(MONDAY);
      one.list([`${ANN},2026-11-30 09:30`, ...LIST.slice(1)]);
      await one.send(MONDAY + 2 * HOUR, { allow: ['input-changed'] });
      expect(one.outcomes('2026-11-30T06:00:00Z').toSorted()).toEqual([
        'ann 09:00 skipped removed',
        'ann 09:30 accepted',
        'bob 15:30 deferred too-early',
        'cy 12:00 deferred too-early',
      ]);
    });

    it('a window moves it to an earlier moment, and never behind its time', async () => {
      const more = '  window: { from: 08:00, to: 20:00, timeZone: Europe/London }\n';
      const rows = [`${ANN},2026-12-01 09:00`, `${BOB},2026-12-01 20:30`, `${CY},2026-12-01 03:00`];
      await using one = await begin({ rows, more });
      expect(await one.previewed(MONDAY)).toEqual([
        'defer too-early: goes out 2026-11-30 19:00 in Europe/London',
        'defer too-early: goes out 2026-12-01 18:30 in Europe/London',
        'defer too-early: goes out 2026-11-30 19:00 in Europe/London',
      ]);
      await one.send(MONDAY);
      // Nothing ran in the evening: one can still be sent in time, the other one cannot.
      await one.send(MONDAY + 15 * HOUR);
      expect(one.outcomes('2026-11-30T06:00:00Z')).toEqual([
        'ann 09:00 deferred outside-window',
        'bob 20:30 deferred too-early',
        'cy 03:00 skipped window-closed',
      ]);
      await one.send(MONDAY + 26 * HOUR, { occurrence: '2026-11-30T06:00:00Z' });
      expect(one.arrived()).toEqual(['ann 2026-12-01 09:00']);
    });

    it('a run is never too late as a whole: only rows are', async () => {
      await using one = await begin({ rows: [`${ANN},2026-11-30 09:00`, `${CY},2026-12-09 12:00`] });
      await one.send(MONDAY);
      await one.send(MONDAY + 9 * 24 * HOUR + 5 * HOUR, { occurrence: '2026-11-30T06:00:00Z' });
      expect(one.outcomes('2026-11-30T06:00:00Z')).toEqual(['ann 09:00 skipped expired', 'cy 12:00 accepted']);
    });

    it('the validity of a message counts from the moment at which it goes out', async () => {
      await using one = await begin({ rows: LIST, more: 'validity: 90m\n' });
      await one.send(MONDAY + HOUR);
      const [{ text = '' } = {}] = readReceipts(one.api.receipts);
      expect(JSON.parse(text)).toMatchObject({ validity: expect.stringMatching(/^2026-11-30T08:30:00/) });
      // Half an hour before its time the message would not be valid any more.
      await one.send(MONDAY + 9 * HOUR);
      expect(one.outcomes('2026-11-30T06:00:00Z')[1]).toBe('bob 15:30 skipped expired');
    });

    /** Rows whose messages may go out now, by the clock of the machine. */
    const soon = (): readonly string[] => {
      const time = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR).toISOString();
      return Array.from({ length: 6 }, (_, n) => `+44740012346${n},p${n},${time}`);
    };
    const texts = (receipts: readonly string[]): readonly string[] =>
      receipts.map((text) => text.split(' ')[0] ?? '').toSorted();
    const ALL = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];

    it('a kill between claim and answer leaves a doubt, which a later run does not send again', async () => {
      const gate = createGate();
      await using one = await begin({ rows: soon() }, (number) => (number === 3 ? { after: gate.opened } : {}));
      const options = {
        cwd: one.here.root,
        env: { ...KEY, ...(one.ledger === undefined ? {} : { HANDBILL_LEDGER: one.ledger }) },
      };
      const place = one.ledger === undefined ? [] : ['--ledger', one.ledger];
      const sender = startCli(['send', 'visits', '--env', 'test', '--yes', '--occurrence', 'one', ...place], options);
      await until('the third request is there', () => one.api.received() === 3);
      sender.kill('SIGKILL');
      await sender.done;
      gate.open();
      await one.send(Date.now(), { occurrence: 'two' });
      expect(one.outcomes('two').map((text) => text.replace(/ \d\d:\d\d/, ''))).toEqual(
        ALL.map((key, n) => (n < 3 ? `${key} skipped excluded` : `${key} accepted`)),
      );
      await one.send(Date.now(), { occurrence: 'one' });
      expect(one.outcomes('one').map((text) => text.split(' ').slice(2).join(' '))).toEqual([
        'accepted',
        'accepted',
        'in-doubt crash',
        ...ALL.slice(3).map(() => 'skipped removed'),
      ]);
      expect(texts(one.arrived())).toEqual(ALL);
    });

    it('a run that begins while another process sends an older one: each message once', async () => {
      const gate = createGate();
      await using one = await begin({ rows: soon() }, (number) => (number === 3 ? { after: gate.opened } : {}));
      const older = one.send(Date.now(), { occurrence: 'one' });
      await until('the third request is there', () => one.api.received() === 3);
      await one.send(Date.now(), { occurrence: 'two' });
      gate.open();
      expect((await older).report.totals).toMatchObject({ accepted: 3, skipped: 3, deferred: 0, pending: 0 });
      expect(one.outcomes('two').map((text) => text.replace(/ \d\d:\d\d/, ''))).toEqual(
        ALL.map((key, n) => (n < 3 ? `${key} skipped excluded` : `${key} accepted`)),
      );
      expect(texts(one.arrived())).toEqual(ALL);
    });
  });
}

function brief({ items }: DueResult): readonly string[] {
  return items.flatMap(({ action, why, occurrence }) =>
    action === 'none' ? [] : [[action, why, occurrence].filter((part) => part !== null).join(' ')],
  );
}
