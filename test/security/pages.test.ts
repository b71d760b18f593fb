import { readFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTarget, type Target } from '../fuzz/target.ts';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { numberOf } from '../oracle/scene.ts';
import { elementsOf } from './markup.ts';
import { SCRIPTS } from './payloads.ts';

let target: Target;
let api: RawServer;
/** Where a page would ask for something, if it did. */
let elsewhere: RawServer;
let project: TestProject;
let scripts: readonly string[] = [];

beforeAll(async () => {
  target = startTarget();
  elsewhere = await startRawServer();
  scripts = SCRIPTS.map((text) => text.replaceAll('PORT', String(elsewhere.port)));
  api = await startRawServer({
    behaviour: (request) => {
      const row = Number(/"\+447400(\d{6})"/.exec(request.body)?.[1]) - 100_000;
      const says = scripts[row] ?? '';
      answer(400, JSON.stringify({ error: { message: says }, id: says }))(request);
    },
  });
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  // NUL is refused in a list; the answers have it.
  const rows = scripts.map((text, row) =>
    [numberOf(row), `${row} ${text.replaceAll('\0', '')}`, 'x'].map(cell).join(','),
  );
  const folder = '<script>alert(1)<&script> \' " onload=alert(1)';
  project = createProject({
    'handbill.yaml': `environments:\n  test:\n    baseUrl: http://127.0.0.1:${api.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`,
    [`${folder}/campaign.yaml`]:
      'name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: name }\nlimits: { stopAfter: { rejected: 100% } }\n',
    [`${folder}/people.csv`]: `msisdn,name,x\n${rows.join('\n')}\n`,
  });
  const run = async (args: readonly string[]): Promise<number | null> =>
    (await target.run({ cwd: project.root, args, env: { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' } })).status;
  const send = ['send', `${folder}/campaign.yaml`, '--env', 'test', '--yes', '--occurrence', scripts[1] ?? ''];
  // The first 20 answers are refusals, which halts a run: it is started until all are answered.
  for (let start = 0; start < 5; start++) expect([3, 5]).toContain(await run(send));
  expect(await run(['report', '--format', 'html', '--full', '-o', 'report.html'])).toBe(0);
});
afterAll(async () => {
  project[Symbol.dispose]();
  await Promise.all([api.close(), elsewhere.close(), target[Symbol.asyncDispose]()]);
});

describe('the page of a report', () => {
  it('holds every payload, as text, and elements and attributes that handbill wrote (S23)', () => {
    const page = readFileSync(project.path('report.html'), 'utf8');
    const { elements, text } = elementsOf(page);
    for (const payload of scripts) expect(text).toContain(payload.replaceAll('\0', '\\u{0}'));
    const names = new Set(elements.map(({ name }) => name));
    const known =
      'html head meta title style body main header h1 h2 p span div section table thead tbody tr th td pre code dl dt dd br time ' +
      'figure figcaption details summary ul li b svg desc g path rect line text caption';
    expect([...names].filter((name) => !known.split(' ').includes(name))).toEqual([]);
    const attributes = new Set(elements.flatMap(({ attributes }) => [...attributes.keys()]));
    const harmless =
      'lang charset http-equiv content name class role aria-label aria-hidden data-label scope tabindex datetime viewbox ' +
      'preserveaspectratio overflow vector-effect width height x y x1 x2 y1 y2 dx rx d text-anchor';
    expect([...attributes].filter((name) => !harmless.split(' ').includes(name))).toEqual([]);
    for (const { attributes } of elements) {
      const drawn = ['x', 'y', 'x1', 'x2', 'y1', 'y2', 'dx', 'rx', 'width', 'height'].map((name) =>
        attributes.get(name),
      );
      for (const value of drawn) expect(value ?? '0').toMatch(/^-?[\d.]+%?$/);
      expect(attributes.get('class') ?? '').toMatch(/^[a-z0-9 -]*$/);
      expect(attributes.get('content') ?? '').not.toMatch(/url|refresh/);
    }
  });

  it('forbids scripts, requests and frames before anything else is read (S23)', () => {
    const { elements } = elementsOf(readFileSync(project.path('report.html'), 'utf8'));
    const policies = elements.filter(({ attributes }) => attributes.get('http-equiv') === 'Content-Security-Policy');
    expect(policies.map(({ attributes }) => attributes.get('content'))).toEqual([
      "default-src 'none'; style-src 'unsafe-inline'",
    ]);
    expect(elements.slice(0, 4).map(({ name }) => name)).toEqual(['html', 'head', 'meta', 'meta']);
    expect(elements[3]).toBe(policies[0]);
  });
});

it('the reader of markup that these tests trust sees what a browser would (S23)', () => {
  const { elements, text } = elementsOf(
    '<p title="a>b" onclick=\'x\' hidden>a&lt;b<!-- <i> --><script src=y>"<b>"</script>c</p>',
  );
  expect(elements.map(({ name, attributes }) => [name, ...attributes])).toEqual([
    ['p', ['title', 'a>b'], ['onclick', 'x'], ['hidden', '']],
    ['script', ['src', 'y']],
  ]);
  expect(text).toBe('a<bc');
});

// A browser takes seconds to start, and only a machine made for it has one.
describe.runIf(process.env['HANDBILL_FULL'] === '1')('in Chromium', () => {
  /** What a page did in the first moments; `requests` is without the page itself. */
  async function open(file: string) {
    const url = `file://${project.path(file)}`;
    await using watched = await openWatched(await sharedChromium(), url);
    // Handlers of errors and toggles run after the load; a pointer over the middle wakes those that wait for one.
    await watched.page.mouse.move(300, 200);
    await new Promise((done) => setTimeout(done, 300));
    const text = await watched.page.evaluate<string>('document.body.innerText');
    return { dialogs: [...watched.dialogs], requests: watched.requests.filter((one) => one !== url), text };
  }

  it('a report opens no dialog, asks for nothing and shows the payloads (S23)', async () => {
    const { dialogs, requests, text } = await open('report.html');
    expect({ dialogs, requests, connections: elsewhere.connections }).toEqual({
      dialogs: [],
      requests: [],
      connections: 0,
    });
    expect(text).toContain('<script>alert(1)</script>');
    expect(text).toContain('<img src=x onerror=alert(1)>');
  });

  it('the browser would show it: most payloads do something in a page that does not escape (S23)', async () => {
    let harmful = 0;
    const third = scripts.filter((_, at) => at % 3 === 0);
    for (const payload of third) {
      project.write(
        'careless.html',
        `<!doctype html><title>x</title><table><tr><td>${payload}</td></tr></table><p title="${payload}">x`,
      );
      const { dialogs, requests } = await open('careless.html');
      if (dialogs.length + requests.length > 0) harmful += 1;
    }
    expect(harmful).toBeGreaterThan(7);
    expect(elsewhere.connections).toBeGreaterThan(0);
  });

  it('the policy by itself would stop what is not escaped (S23)', async () => {
    const before = elsewhere.connections;
    const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`;
    const payloads = scripts.filter((payload) => !/http-equiv=refresh|<base|<form/.test(payload));
    project.write(
      'policy.html',
      `<!doctype html><head>${policy}<title>x</title></head>${payloads.map((one) => `<p>${one}</p>`).join('\n')}`,
    );
    const { dialogs } = await open('policy.html');
    expect({ dialogs, connections: elsewhere.connections }).toEqual({ dialogs: [], connections: before });
  });
});
