import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InputFile } from '../../src/model.ts';
import { PRINT_FORMATS } from '../../src/report/formats.ts';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { ask, NOW, numberOf, recordRun, replyOf, servePages, withLedger } from './serve-ledger.ts';

const NAMES = ['Mair,Llewellyn', 'José,García', 'Ann,Smith', 'Bo,Li', ',', 'Zoë,"O\'Neill ""Z"", Dr"'];
const LIST = `msisdn,first_name,last_name,town\n${NAMES.map((name, i) => `${numberOf(i)},${name},Bath\n`).join('')}`;
const CAMPAIGN =
  'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{first_name}}" }\nrecipients: people.csv\n';

let project: TestProject;
let run: string;

/** The inputs of a run of these files. */
function inputsOf(folder = 'campaigns/hello'): readonly InputFile[] {
  const of = (role: InputFile['role'], file: string): InputFile => {
    const sha256 = hash('sha256', readFileSync(project.path(`${folder}/${file}`)), 'hex');
    return { role, file: `${folder}/${file}`, sha256 };
  };
  return [of('campaign', 'campaign.yaml'), of('recipients', 'people.csv')];
}

beforeEach(() => {
  project = createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    'campaigns/hello/campaign.yaml': CAMPAIGN,
    'campaigns/hello/people.csv': LIST,
  });
  run = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
    const sent = recordRun(ledger, { campaign: 'hello', inputs: inputsOf() }, [
      {},
      { state: 'in-doubt', reason: 'timeout' },
      {},
      { state: 'rejected', reason: 'status' },
      {},
      {},
    ]);
    ledger.events.record([replyOf(numberOf(0), 'Diolch', 'review')], {
      nowMs: NOW + 60_000,
      source: 'webhook',
      environment: 'sandbox',
    });
    return sent.id;
  });
});
afterEach(() => project[Symbol.dispose]());

/** Without styles and scripts, which a failing test would print. */
function mainOf(text: string): string {
  return /<main[^>]*>(.*)<\/main>/s.exec(text)?.[1] ?? text;
}

/** With the names, however long their list takes. */
async function whole(port: number, path: string): Promise<string> {
  for (;;) {
    const text = mainOf((await ask(port, path)).text);
    if (!text.includes('Names follow')) return text;
  }
}

async function textOf(path: string): Promise<string> {
  await using pages = await servePages(project.root);
  // A search waits until the list has been read; other pages do not, and show names later.
  await whole(pages.port, `/runs/${run}/recipients?q=nothing`);
  return await whole(pages.port, path);
}

const rowsIn = (text: string) =>
  [...text.matchAll(/<th scope="row">.*?\/recipients\/(\d+)"/g)].map(([, row]) => Number(row));
const found = async (q: string, more = '') =>
  rowsIn(await textOf(`/runs/${run}/recipients?q=${encodeURIComponent(q)}${more}`));

describe('while the list is that of the run', () => {
  it.each([
    ['llewellyn', [0]],
    ['MAIR', [0]],
    ['garcia jose', [1]],
    ['o’neill z', [5]],
    ['bo', [3]],
    ['bath', [0, 1, 2, 3, 4, 5]],
    ['bath smith', [2]],
    ['unknown', []],
  ])('its people are found by %j', async (q, rows) => {
    expect(await found(q)).toEqual(rows);
    expect(await found(q, '&sort=line')).toEqual(rows);
  });

  it('a search keeps its filters, and a short number is a line and not a part of every cell', async () => {
    expect(await found('bath', '&outcome=rejected')).toEqual([3]);
    expect(await found('4')).toEqual([2]);
    expect(await found('77009')).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('people are called by their names, with their numbers below', async () => {
    const text = await textOf(`/runs/${run}/recipients`);
    expect(text).toContain(
      `<a class="name" href="/runs/${run}/recipients/0">Mair Llewellyn</a><br><span class="soft">${numberOf(0)}</span>`,
    );
    // A row without a name has its number.
    expect(text).toContain(`<a href="/runs/${run}/recipients/4">${numberOf(4)}</a>`);
    const person = await textOf(`/runs/${run}/recipients/5`);
    expect(person).toContain('<h1>Zoë O&#39;Neill &quot;Z&quot;, Dr</h1>');
    expect(person).toContain(`<dt>Address</dt><dd>${numberOf(5)}</dd>`);
    expect(person).toContain('<dt>town</dt><dd>Bath</dd>');
    expect(await textOf('/doubt')).toContain('José García</a>');
  });

  it('a reply has the name of the person who answers a message', async () => {
    withLedger(project.path('.handbill/ledger.db'), (ledger) => {
      const steps = ledger.events.joinReplies({
        now: () => NOW + 120_000,
        startLifts: false,
        stopEnds: 'everything',
        referencesOf: () => () => 'none',
      });
      for (const _ of steps);
    });
    expect(await textOf('/replies')).toContain('Mair Llewellyn</a>');
  });

  it('recipients.display says how they are called', async () => {
    project.write(
      'campaigns/hello/campaign.yaml',
      `${CAMPAIGN.replace('people.csv', '{ csv: people.csv, display: "{{last_name}} ({{town}})" }')}`,
    );
    expect(await textOf(`/runs/${run}/recipients`)).toContain('>Llewellyn (Bath)</a>');
  });

  it('a campaign that cannot be read any more leaves the usual columns', async () => {
    project.write('campaigns/hello/campaign.yaml', 'name: [');
    expect(await textOf(`/runs/${run}/recipients`)).toContain('>Mair Llewellyn</a>');
  });

  it('a person who was erased has no name', async () => {
    const { erasePerson } = await import('../../src/operations/erase.ts');
    await erasePerson(numberOf(0), {
      cwd: project.root,
      env: {},
      keepSuppressed: true,
      confirm: true,
      now: () => NOW + 120_000,
    });
    expect(await textOf(`/runs/${run}/recipients`)).not.toContain('Llewellyn');
    expect(await textOf(`/runs/${run}/recipients/0`)).not.toContain('Llewellyn');
    expect(await found('llewellyn')).toEqual([]);
    expect(await found('bath')).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('when the list has changed since', () => {
  const CHANGED = 'Names are not shown: the list is not as it was when this was sent.';

  it('there are numbers, and a sentence that says why; with the old bytes the names are back', async () => {
    await using pages = await servePages(project.root);
    const text = (path: string) => whole(pages.port, path);
    const paths = [`/runs/${run}/recipients`, `/runs/${run}/recipients/1`, '/doubt'];
    for (const path of paths) expect(await text(path)).toContain('José García');
    project.write('campaigns/hello/people.csv', LIST.replace('José', 'Josef'));
    for (const path of paths) {
      expect(await text(path)).toContain(CHANGED);
      expect(await text(path)).not.toContain('García');
    }
    expect(rowsIn(await text(`/runs/${run}/recipients?q=llewellyn`))).toEqual([]);
    project.write('campaigns/hello/people.csv', LIST);
    for (const path of paths) {
      expect(await text(path)).not.toContain(CHANGED);
      expect(await text(path)).toContain('José García');
    }
  });

  it('a purged run has neither names nor a sentence', async () => {
    const { purge } = await import('../../src/operations/purge.ts');
    await purge({
      cwd: project.root,
      env: {},
      olderThanMs: 0,
      withOpen: true,
      confirm: true,
      now: () => NOW + 1e9,
    } as never);
    const text = await textOf(`/runs/${run}/recipients`);
    expect(text).not.toContain('Llewellyn');
    expect(text).not.toContain(CHANGED);
  });
});

it('a name is in no file of the ledger, no log, no metrics and no report', async () => {
  const NAME = 'Quetzalcoatlina';
  project.write('campaigns/other/campaign.yaml', CAMPAIGN.replace('hello', 'other').replace('{{first_name}}', 'you'));
  project.write('campaigns/other/people.csv', LIST.replace('Llewellyn', NAME));
  const logging = ['--log', 'run.log', '--log-level', 'debug', '--metrics-file', 'run.prom'];
  const sent = await runCli(['send', 'other', ...logging], { cwd: project.root });
  expect(sent.status, sent.stderr).toBe(0);
  await using pages = await servePages(project.root, { now: Date.now });
  const id = /runs\/(other-[^"/]+)"/.exec((await ask(pages.port, '/')).text)?.[1] ?? '';
  expect(await whole(pages.port, `/runs/${id}/recipients?q=${NAME}`)).toContain(NAME);
  const reports = await Promise.all(
    PRINT_FORMATS.map(
      async (format) => (await runCli(['report', id, '--format', format], { cwd: project.root })).stdout,
    ),
  );
  expect((await ask(pages.port, `/runs/${id}/report`)).text).not.toContain(NAME);
  for (const text of [sent.stdout, sent.stderr, ...reports]) expect(text).not.toContain(NAME);
  for (const file of [
    ...readdirSync(project.path('.handbill'), { withFileTypes: true, recursive: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
    project.path('run.log'),
    project.path('run.prom'),
  ]) {
    expect(readFileSync(file).includes(NAME), file).toBe(false);
  }
});

describe('the page of a person', () => {
  it('has every message with its text, reply and opt-out over all campaigns, found by name in two clicks', async () => {
    const send = ['--allow', 'invalid-rows'];
    await runCli(['send', 'hello', '--occurrence', 'autumn', ...send], { cwd: project.root });
    project.write('campaigns/other/campaign.yaml', CAMPAIGN.replace('hello', 'other').replace('Hi', 'Prynhawn da'));
    project.write('campaigns/other/people.csv', LIST);
    await runCli(['send', 'other', ...send], { cwd: project.root });
    await using pages = await servePages(project.root, { now: Date.now, allowActions: true, open: false });
    await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
    const { page } = watched;
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('Name, number or key').fill('llewellyn');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Mair Llewellyn' }).click();
    expect(await page.locator('h1').innerText()).toBe('Mair Llewellyn');
    expect(page.url()).not.toContain(numberOf(0).slice(1));
    const story = page.locator('.timeline');
    await story.getByText('Prynhawn da Mair').waitFor();
    await story.getByText('Hi Mair').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Opt out' }).click();
    expect(await page.locator('h1').innerText()).toBe(`Opt ${numberOf(0)} out?`);
    await page.getByRole('button', { name: 'Opt out' }).click();
    await page.getByRole('link', { name: numberOf(0) }).click();
    await page.getByRole('link', { name: 'Mair Llewellyn' }).click();
    expect(await story.innerText()).toContain('Opted out of everything');
    expect(await page.locator('dl').first().innerText()).toMatch(/Suppressed now\s+yes/);
    expect(watched.logged).toEqual([]);
  });

  it('is found by number and by key, and no line of a list finds a person', async () => {
    const at = (q: string) => textOf(`/people?q=${encodeURIComponent(q)}`);
    expect(rowsOf(await at('07700 900001'))).toEqual([1]);
    expect(rowsOf(await at('3'))).toEqual([]);
    expect(rowsOf(await at('jose'))).toEqual([1]);
    expect(await at('nowhere')).toContain('No person of the runs is like that.');
    expect(await textOf('/people')).not.toContain('Mair');
  });
});

const rowsOf = (text: string) => [...text.matchAll(/href="\/people\/[^"/]+\/(\d+)"/g)].map(([, row]) => Number(row));
