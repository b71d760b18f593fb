import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { builtIn, providerNames } from '../../src/campaign/read-provider.ts';
import { runProgram } from '../../src/cli/program.ts';
import { HandbillError } from '../../src/errors.ts';
import type { Channel } from '../../src/model.ts';
import { countryFault, defaultSender, init, makeFiles } from '../../src/operations/init.ts';
import { validate } from '../../src/operations/validate.ts';
import { anyText } from '../helpers/any-text.ts';
import { golden, printed, wordsOf } from '../helpers/golden.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';
import { handbillHere } from './in-process.ts';
import { handbill } from './run-handbill.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CHANNELS: readonly Channel[] = ['sms', 'rcs', 'messaging-app', 'email', 'voice'];
const NOW = Date.UTC(2026, 10, 21, 9);

const FILES = [
  '.github/workflows/handbill.yml',
  '.gitignore',
  '.npmrc',
  '.vscode/extensions.json',
  '.vscode/settings.json',
  'README.md',
  'campaigns/hello-2/campaign.yaml',
  'campaigns/hello-3/campaign.yaml',
  'campaigns/hello/campaign.yaml',
  'campaigns/hello/people.csv',
  'campaigns/hello/template.hbs',
  'handbill.yaml',
  'package.json',
  'schemas/campaign.schema.json',
  'schemas/project.schema.json',
  'schemas/provider.schema.json',
];

/** Every file below a folder, by its path, sorted. */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory());
  return entries.map((one) => join(one.parentPath, one.name).slice(folder.length + 1)).toSorted();
}

describe('a new project', () => {
  it.each(CHANNELS)('on %s validates, previews and is sent to the sandbox at once', async (channel) => {
    using folder = createProject({});
    const made = await handbillHere(folder.root, ['init', 'shop', '--channel', channel]);
    expect(made, made.err).toMatchObject({ status: 0, err: '' });
    const root = folder.path('shop');
    expect(filesIn(root)).toEqual(FILES);
    for (const args of [['validate'], ['preview', 'hello'], ['send', 'hello', '--format', 'json'], ['report']]) {
      const { status, out, err } = await handbillHere(root, args);
      expect(status, `${args.join(' ')}: ${out}${err}`).toBe(0);
      if (args[0] === 'send') expect(JSON.parse(out).totals).toMatchObject({ recipients: 3, accepted: 3 });
    }
  });

  it.each(CHANNELS)('on %s has two follow-ups, with texts of their own, to the same list', async (channel) => {
    using folder = createProject({});
    await init('.', {
      ...DEFAULTS,
      channel,
      from: defaultSender(channel, 'GB'),
      campaign: '2026-11',
      cwd: folder.root,
    });
    const [first, ...next] = ['2026-11', '2026-11-2', '2026-11-3'].map((name) => campaignIn(folder, name));
    const csv = '../2026-11/people.csv';
    const shared = {
      channel,
      from: first?.['from'],
      recipients: channel === 'email' ? { csv, to: 'email' } : csv,
    };
    const unless = ['replied', 'opted-out'];
    expect(next).toMatchObject([
      { ...shared, name: '2026-11-2', after: { campaign: '2026-11', wait: '3d', unless } },
      { ...shared, name: '2026-11-3', after: { campaign: '2026-11-2', wait: '4d', unless } },
    ]);
    const texts = next.map(({ template }) => (template as { readonly text: string }).text);
    expect(new Set(texts).size).toBe(2);
    for (const text of texts) expect(text).toContain('{{first_name}}');
    // Recipients without RCS get the same text.
    const fallback = channel === 'rcs' ? texts.map((text) => ({ channel: 'sms', template: { text } })) : [];
    expect(next.flatMap((one) => one['fallback'] ?? [])).toEqual(fallback);
    expect((await validate([], { cwd: folder.root, now: () => NOW })).diagnostics.filter(isError)).toEqual([]);
  });

  it('says at the head of each follow-up when it goes out', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    const head = (name: string): string =>
      readFileSync(folder.path(`campaigns/${name}/campaign.yaml`), 'utf8').split('\n')[1] ?? '';
    expect(head('hello-2')).toMatch(/^# Goes to those who do not answer hello, three days after it\./);
    expect(head('hello-3')).toMatch(/^# Goes to those who do not answer hello-2, four days after it\./);
  });

  it('shows the three messages of the chain, once the first was sent', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    const day = (days: number) => ({ now: () => Date.now() + days * 86_400_000 });
    expect((await handbillHere(folder.root, ['send', 'hello'])).status).toBe(0);
    for (const days of [0, 3.1, 7.2]) await handbillHere(folder.root, ['due'], day(days));
    const { out } = await handbillHere(folder.root, ['runs', '--format', 'json']);
    expect(out.match(/"accepted": ?3/g)).toHaveLength(3);
  });

  it.each(['GB', 'US', 'CA', 'FR', 'AU', 'SE', 'DE', 'IN'])(
    'in %s has numbers that belong to no person',
    async (country) => {
      using folder = createProject({});
      await init('.', { ...DEFAULTS, cwd: folder.root, from: defaultSender('sms', country), country });
      const { diagnostics, files } = await validate([], { cwd: folder.root, now: () => NOW });
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(diagnostics.map(({ code }) => code).filter((code) => code === 'sender-country')).toEqual([]);
      expect(files).toHaveLength(3);
    },
  );

  it('has the zone of a country whose clocks agree, and no other', async () => {
    for (const [country, zone] of [
      ['DE', 'Europe/Berlin'],
      ['US', undefined],
    ] as const) {
      using folder = createProject({});
      await init('.', { ...DEFAULTS, cwd: folder.root, country });
      expect(parse(readFileSync(folder.path('handbill.yaml'), 'utf8'))).toMatchObject({ defaultCountry: country });
      expect(parse(readFileSync(folder.path('handbill.yaml'), 'utf8')).timeZone).toBe(zone);
    }
  });

  it('has a production environment and a schedule that only need their comment signs taken away', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    for (const [path, first] of [
      ['handbill.yaml', '# environments:'],
      ['campaigns/hello/campaign.yaml', '# schedule:'],
    ] as const) {
      const [head = '', tail = ''] = readFileSync(folder.path(path), 'utf8').split(`\n${first}`);
      writeFileSync(folder.path(path), `${head}\n${first.slice(2)}${tail.replaceAll('\n# ', '\n')}`);
    }
    expect((await validate([], { cwd: folder.root, now: () => NOW })).diagnostics.filter(isError)).toEqual([]);
    const { out } = await handbillHere(folder.root, ['schedule', '--at', '2026-11-21T09:00:00Z', '--next', '1']);
    expect(out).toContain('2026-11-23T09:00:00Z');
  });

  it('names its schemas where they lie, in comments and in the settings of the editor', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    for (const path of ['handbill.yaml', 'campaigns/hello/campaign.yaml']) {
      const named =
        /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(folder.path(path), 'utf8'))?.[1] ?? '';
      const schema = join(folder.path(path), '..', named);
      expect(readFileSync(schema, 'utf8')).toBe(
        readFileSync(join(ROOT, 'schemas', schema.split('/').at(-1) ?? ''), 'utf8'),
      );
    }
    const settings = JSON.parse(readFileSync(folder.path('.vscode/settings.json'), 'utf8')) as Record<string, object>;
    for (const path of Object.keys(settings['yaml.schemas'] ?? {}))
      expect(statSync(folder.path(path)).isFile()).toBe(true);
    // As docs/editors.md advises, and its tests set the language server.
    expect(settings['yaml.disableDefaultProperties']).toBe(true);
  });

  it('asks for the handbill that made it', async () => {
    using folder = createProject({});
    await init('a/b', { ...DEFAULTS, cwd: folder.root });
    const { dependencies } = JSON.parse(readFileSync(folder.path('a/b/package.json'), 'utf8')) as {
      dependencies: { handbill: string };
    };
    const [, path = ''] = /^file:(.*)$/.exec(dependencies.handbill) ?? [];
    expect(join(folder.path('a/b'), path)).toBe(ROOT);
  });

  it('keeps the package.json that `npm install handbill` made', async () => {
    const text = '{ "dependencies": { "handbill": "0.1.0" } }\n';
    using folder = createProject({ 'package.json': text });
    const { made, kept } = await init('.', { ...DEFAULTS, cwd: folder.root });
    expect([made.includes('handbill.yaml'), kept]).toEqual([true, ['package.json']]);
    expect(readFileSync(folder.path('package.json'), 'utf8')).toBe(text);
  });

  it('takes no name for a campaign that is a device on Windows', async () => {
    using folder = createProject({});
    const made = init('.', { ...DEFAULTS, campaign: 'nul', cwd: folder.root });
    await expect(made).rejects.toThrow('"nul" is the name of a device on Windows');
  });

  it.each<[label: string, text: string]>([
    ['does without handbill', '{ "dependencies": { "left-pad": "1.0.0" } }'],
    ['cannot be read', '{ "dependencies": { "handbill"'],
    ['is no object', 'null'],
  ])('is refused where a package.json %s', async (_label, text) => {
    using folder = createProject({ 'package.json': text });
    await expect(init('.', { ...DEFAULTS, cwd: folder.root })).rejects.toThrow('package.json exists already');
  });

  it('brings the Node that handbill is tested with, and allows its install script', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    const read = (path: string): { devDependencies: { node: string }; allowScripts?: object } =>
      JSON.parse(readFileSync(path, 'utf8'));
    expect(read(folder.path('package.json'))).toMatchObject({
      devDependencies: { node: read(join(ROOT, 'package.json')).devDependencies.node },
      allowScripts: { node: true },
    });
    expect(readFileSync(folder.path('.npmrc'), 'utf8')).toBe(readFileSync(join(ROOT, '.npmrc'), 'utf8'));
  });

  it.each<[label: string, resolved: string | undefined, dependency: string]>([
    ['a registry', 'https://registry.example/handbill/-/handbill-0.1.0.tgz', '0.1.0'],
    ['a registry that is not written down', undefined, '0.1.0'],
    ['a packed file', 'file:../packed/handbill-0.1.0.tgz', 'file:../packed/handbill-0.1.0.tgz'],
    ['a git repository', 'git+ssh://git@example.com/a/b.git#0a1b', 'git+ssh://git@example.com/a/b.git#0a1b'],
  ])('asks for the handbill that made it, from where that one was installed: %s', (_label, resolved, dependency) => {
    using folder = createProject({
      'tools/node_modules/.package-lock.json': JSON.stringify({
        packages: { 'node_modules/handbill': { ...(resolved === undefined ? {} : { resolved }) } },
      }),
    });
    const place = folder.path('tools/node_modules/handbill');
    for (const name of ['dist', 'docs', 'schemas', 'package.json'])
      cpSync(join(ROOT, name), join(place, name), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => !one.startsWith('.'))) {
      symlinkSync(join(ROOT, 'node_modules', name), folder.path(`tools/node_modules/${name}`));
    }
    execFileSync(process.execPath, [join(place, 'dist/cli.js'), 'init', 'shop', '--yes'], { cwd: folder.root });
    expect(JSON.parse(readFileSync(folder.path('shop/package.json'), 'utf8')).dependencies).toEqual({
      handbill: dependency,
    });
  });

  it('has the workflow that the page on CI shows', async () => {
    using folder = createProject({});
    await init('.', { ...DEFAULTS, cwd: folder.root });
    const workflow = readFileSync(folder.path('.github/workflows/handbill.yml'), 'utf8');
    expect(workflow).toBe(readFileSync(join(ROOT, 'docs/examples/github-actions.yml'), 'utf8'));
  });
});

describe('a provider', () => {
  const CASES = providerNames().flatMap((name) =>
    CHANNELS.filter((channel) => hasChannel(name, channel)).map((channel) => [name, channel] as const),
  );

  it.each(CASES)(
    '%s makes an environment that only needs its values and secrets, and sends on %s',
    async (provider, channel) => {
      using folder = createProject({});
      const { out, err, status } = await handbillHere(folder.root, [
        'init',
        '--provider',
        provider,
        '--channel',
        channel,
      ]);
      expect(status, err).toBe(0);
      expect(out).toMatch(/\n {2}npx handbill doctor --env production\n$/);
      const { production } = parse(readFileSync(folder.path('handbill.yaml'), 'utf8')).environments;
      expect(production).toMatchObject({ provider });
      const { vars, secrets } = builtIn(provider).provider;
      const needed = Object.keys(vars).filter((name) => vars[name]?.optional !== true);
      expect(Object.keys(production.vars ?? {})).toEqual(needed);
      for (const { env } of Object.values(production.secrets ?? { apiKey: production.apiKey }) as { env: string }[]) {
        expect(env).toMatch(/^[A-Z][A-Z0-9_]+$/);
        expect(out).toContain(env);
      }
      expect(Object.keys(production.secrets ?? secrets)).toEqual(Object.keys(secrets));
      const variables = readFileSync(folder.path('handbill.yaml'), 'utf8').matchAll(/\{ env: (\w+) \}/g);
      const env = Object.fromEntries([...variables].map(([, variable]) => [variable, 'k'.repeat(20)]));
      const preview = await handbillHere(folder.root, ['preview', 'hello', '--env', 'production'], { env });
      expect(preview).toMatchObject({ status: 0, err: '', out: expect.stringContaining('to send   3') });
      for (const one of [{}, env]) {
        const checked = await handbillHere(folder.root, ['validate', '--format', 'json'], { env: one, now: () => NOW });
        expect(checked).toMatchObject({ status: 0, err: '' });
      }
      const sent = await handbillHere(folder.root, ['send', 'hello', '--format', 'json']);
      expect({ status: sent.status, ...JSON.parse(sent.out).totals }).toMatchObject({ status: 0, accepted: 3 });
    },
  );

  it('that takes templates only says what to change in the campaign', async () => {
    using folder = createProject({});
    expect((await handbillHere(folder.root, ['init', '--provider', 'govuk-notify'])).out).toContain(
      'GOV.UK Notify takes templates only: write the id of yours into each campaign.yaml',
    );
    expect(filesIn(folder.path('campaigns'))).toEqual([
      'hello-2/campaign.yaml',
      'hello-3/campaign.yaml',
      'hello/campaign.yaml',
      'hello/people.csv',
    ]);
    const ids = ['hello', 'hello-2', 'hello-3'].map((name) => campaignIn(folder, name)['template']);
    expect(ids).toEqual([{ id: 'your-template' }, { id: 'your-template-2' }, { id: 'your-template-3' }]);
  });

  it('that takes no sender says that --from is not used', async () => {
    using folder = createProject({});
    const made = async (name: string, provider: string): Promise<string> =>
      (await handbillHere(folder.root, ['init', name, '--provider', provider, '--from', 'Riverside'])).out;
    expect(await made('one', 'govuk-notify')).toContain(
      'GOV.UK Notify takes no sender of a campaign: --from is not in campaign.yaml.',
    );
    expect(await made('two', 'twilio')).not.toContain('--from');
    const { out } = await handbillHere(folder.root, ['init', 'three', '--provider', 'govuk-notify']);
    expect(out).not.toContain('--from');
  });

  it('does not change a handbill.yaml that exists', async () => {
    using folder = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
    const { out } = await handbillHere(folder.root, ['init', '--force', '--provider', 'plivo']);
    expect(out).toContain('handbill.yaml is as it was: `handbill help providers plivo` shows an environment to paste.');
    expect(readFileSync(folder.path('handbill.yaml'), 'utf8')).toBe('defaultCountry: GB\n');
  });
});

const hasChannel = (provider: string, channel: Channel): boolean =>
  builtIn(provider).provider.channels[channel] !== undefined;

const DEFAULTS = {
  campaign: 'hello',
  channel: 'sms',
  from: 'Riverside',
  country: 'GB',
  addMissing: false,
} as const;

const campaignIn = (folder: TestProject, name: string): Readonly<Record<string, unknown>> =>
  parse(readFileSync(folder.path(`campaigns/${name}/campaign.yaml`), 'utf8'));

const isError = ({ severity }: { readonly severity: string }): boolean => severity === 'error';

describe('what exists', () => {
  it('is named, all of it, and nothing is written', async () => {
    using folder = createProject({ 'README.md': 'mine', 'campaigns/hello/people.csv': 'mine' });
    const { status, err } = await handbillHere(folder.root, ['init']);
    expect(status).toBe(2);
    expect(err).toContain('campaigns/hello/people.csv and README.md exist already.');
    expect(filesIn(folder.root)).toEqual(['README.md', 'campaigns/hello/people.csv']);
  });

  it.each(['hello-2', 'hello-3'])('is a follow-up of the user, %s: nothing is written', async (name) => {
    const text = 'name: mine\n';
    using folder = createProject({ [`campaigns/${name}/campaign.yaml`]: text });
    expect((await handbillHere(folder.root, ['init'])).err).toContain(
      `campaigns/${name}/campaign.yaml exists already.`,
    );
    expect(filesIn(folder.root)).toHaveLength(1);
    expect((await handbillHere(folder.root, ['init', '--force'])).status).toBe(0);
    expect(readFileSync(folder.path(`campaigns/${name}/campaign.yaml`), 'utf8')).toBe(text);
  });

  it('stays as it is with --force, which adds what is missing', async () => {
    using folder = createProject({ 'README.md': 'mine', '.gitignore': 'dist/\n' });
    const { status, out } = await handbillHere(folder.root, ['init', '--force']);
    expect(status).toBe(0);
    expect(filesIn(folder.root)).toEqual(FILES);
    expect([readFileSync(folder.path('README.md'), 'utf8'), readFileSync(folder.path('.gitignore'), 'utf8')]).toEqual([
      'mine',
      'dist/\n',
    ]);
    expect(out).toContain('Left as they are:\n  README.md\n  .gitignore');
    expect(out).toContain('Add to .gitignore: .handbill/, .env.');
    expect(out).toContain('git would commit lists of people: add campaigns/**/*.csv to .gitignore');
  });

  it('keeps a campaign that is in use without follow-ups that no one wrote', async () => {
    using folder = createProject({ 'campaigns/hello/campaign.yaml': 'name: hello\n' });
    const { status, out } = await handbillHere(folder.root, ['init', '--force']);
    expect(status, out).toBe(0);
    expect(filesIn(folder.root)).toEqual(FILES.filter((path) => !/hello-/.test(path)));
  });

  it('that ignores the ledger already needs no word', async () => {
    using folder = createProject({ '.gitignore': '/.handbill\n.env\n' });
    expect((await handbillHere(folder.root, ['init', '--force'])).out).not.toContain('Add to .gitignore');
  });

  it('is complete: --force again makes nothing', async () => {
    using folder = createProject({});
    await handbillHere(folder.root, ['init']);
    const before = folder.contents();
    const { status, out } = await handbillHere(folder.root, ['init', '--force']);
    expect({ status, out: out.split('\n')[0] }).toEqual({ status: 0, out: `Nothing is missing in ${folder.root}.` });
    expect(folder.contents()).toEqual(before);
  });

  it.each<[label: string, plant: (folder: TestProject) => void, said: string]>([
    [
      'a link to nowhere in the place of a file',
      (folder) => symlinkSync('elsewhere', folder.path('handbill.yaml')),
      'handbill.yaml exists already',
    ],
    [
      'a link in the place of a folder',
      (folder) => {
        mkdirSync(folder.path('elsewhere'));
        symlinkSync('elsewhere', folder.path('campaigns'));
      },
      'campaigns is a link, which handbill does not follow',
    ],
    ['a file in the place of a folder', (folder) => folder.write('schemas', ''), 'schemas is not a folder'],
    ['a folder in the place of a file', (folder) => mkdirSync(folder.path('README.md')), 'README.md exists already'],
  ])('%s: refused, and nothing is written through it', async (_label, plant, said) => {
    using folder = createProject({});
    plant(folder);
    const before = readdirSync(folder.root);
    const { status, err } = await handbillHere(folder.root, ['init']);
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining(said) });
    expect(readdirSync(folder.root)).toEqual(before);
    expect(filesIn(folder.root).some((path) => path.startsWith('elsewhere/'))).toBe(false);
  });

  it('a link that takes the place of a folder meanwhile leads no file elsewhere', async () => {
    using folder = createProject({});
    mkdirSync(folder.path('elsewhere'));
    symlinkSync(folder.path('elsewhere'), folder.path('campaigns'));
    const files = new Map([
      ['first.yaml', 'x'],
      ['campaigns/hello.yaml', 'x'],
    ]);
    await expect(makeFiles(folder.root, files)).rejects.toThrow(/campaigns cannot be made: a link or a file lies/);
    expect(filesIn(folder.root)).toEqual(['campaigns']);
    expect(readdirSync(folder.path('elsewhere'))).toEqual([]);
  });

  it('a pipe in the place of .gitignore is not waited for', async () => {
    using folder = createProject({});
    execFileSync('mkfifo', [folder.path('.gitignore')]);
    const { status, out, err } = await handbill(folder.root, ['init', '--yes', '--force']);
    expect(status, err).toBe(0);
    expect(out).toContain('Add to .gitignore: .handbill/, .env.');
  });

  it('a link as the folder itself is refused', async () => {
    using folder = createProject({ 'real/a': '' });
    symlinkSync('real', folder.path('link'));
    const { status, err } = await handbillHere(folder.root, ['init', 'link']);
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('link is a link') });
    expect(filesIn(folder.path('real'))).toEqual(['a']);
  });

  it('that comes into the way half way takes back what was made', async () => {
    using folder = createProject({});
    // A name that is too long for a folder's entry fails in the middle: after handbill.yaml, before the rest.
    const { makeFiles } = await import('../../src/operations/init.ts');
    const files = new Map([
      ['one/a', 'x'],
      ['two', 'x'],
      [`three/${'n'.repeat(300)}`, 'x'],
    ]);
    await expect(makeFiles(folder.path('new'), files)).rejects.toThrow('the name is too long');
    expect(readdirSync(folder.root)).toEqual([]);
  });
});

golden('answers that cannot be used are refused, all at once, and nothing is made', 'cli/init', async (line) => {
  using folder = createProject({});
  const { status, err } = await handbillHere(folder.root, ['init', ...wordsOf(line)]);
  expect({ status, made: readdirSync(folder.root) }).toEqual({ status: 2, made: [] });
  return printed(err);
});

const FAIR = { campaign: 'a', channel: 'sms', from: 'Riverside', country: 'GB' } as const;

test('whatever is answered is refused in words, or makes a project that can be sent', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 14 }),
    anyText(14, true),
    fc.constantFrom(
      'no',
      'null',
      '1e3',
      '0x1F',
      '+447700900123',
      '12345',
      '~',
      '- a',
      'a: b',
      '#a',
      '{{x}}',
      "O'Brien",
    ),
    fc.constantFrom('a@example.com', '"A: B" <a@b.example>', 'A <a@b.example>', '*x', '&x', '!x', '%x', 'x #y', '@x'),
  );
  const answers = fc.record({
    campaign: fc.oneof(
      { arbitrary: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,9}$/), weight: 6 },
      { arbitrary: fc.constantFrom('no', '1e3', '007'), weight: 2 },
      text,
    ),
    channel: fc.constantFrom(...CHANNELS),
    from: text,
    country: fc.oneof(
      { arbitrary: fc.constantFrom(...getCountries()), weight: 9 },
      fc.string({ minLength: 2, maxLength: 2 }),
    ),
  });
  let [made, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(answers, async (given) => {
      using folder = createProject({});
      try {
        await init('.', { ...DEFAULTS, ...given, cwd: folder.root });
      } catch (error) {
        expect(error).toBeInstanceOf(HandbillError);
        expect(readdirSync(folder.root)).toEqual([]);
        refused += 1;
        return;
      }
      made += 1;
      const found = await validate([], { cwd: folder.root, now: () => NOW });
      expect(found.diagnostics.filter(isError)).toEqual([]);
      // A send starts a sandbox, which takes longer than all the rest.
      const verb = made % 4 === 1 ? 'send' : 'preview';
      const { status, out, err } = await handbillHere(folder.root, [verb, given.campaign, '--format', 'json']);
      expect(status, err).toBe(0);
      if (verb === 'send') expect(JSON.parse(out).totals).toMatchObject({ accepted: 3 });
    }),
    { numRuns: examples(30), examples: [[FAIR], [{ ...FAIR, from: '' }]] },
  );
  expect([made > 0, refused > 0]).toEqual([true, true]);
});

test('the longest name makes a project that validates', async () => {
  using folder = createProject({});
  await init('.', { ...DEFAULTS, campaign: 'a'.repeat(62), cwd: folder.root });
  expect((await validate([], { cwd: folder.root, now: () => NOW })).diagnostics.filter(isError)).toEqual([]);
});

test('every country that has numbers is one that can be named', () => {
  expect(getCountries().filter((country) => countryFault(country) !== null)).toEqual([]);
});

test('without a terminal nothing is asked, and files are as private as the user has them', async () => {
  using folder = createProject({});
  const { status, out, err } = await handbill(folder.root, ['init', 'shop'], {});
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain('Next:\n  cd shop\n  npm install\n  npx handbill validate\n');
  expect(out).toContain('This is no git repository yet: git init makes it one.');
  expect(lstatSync(folder.path('shop/handbill.yaml')).mode & 0o777).toBe(0o666 & ~process.umask());
});

test('in a repository, and below a folder that has handbill, other things are to be done', async () => {
  using folder = createProject({ '.git/HEAD': '', 'node_modules/.bin/handbill': '' });
  const { out } = await handbillHere(folder.root, ['init', 'shop']);
  expect(out).not.toContain('npm install');
  expect(out).not.toContain('git init');
  expect(out).toContain('GitHub reads .github at the root of a repository');
});

/** A user at a terminal that only shows lines, who answers each question with the next line; null leaves. */
async function answering(cwd: string, answers: readonly (string | null)[]): Promise<{ out: string; asked: string }> {
  const input = new PassThrough();
  const left = [...answers];
  let [out, asked] = ['', ''];
  await runProgram(['init'], {
    cwd,
    env: { TERM: 'dumb' },
    now: Date.now,
    width: 80,
    colour: { out: false, err: false },
    interactive: true,
    terminal: {
      input,
      size: () => ({ columns: 80, rows: 24 }),
      onResize: () => () => undefined,
      platform: 'linux',
      isPiped: false,
      draw: () => undefined,
      beforePrint: () => undefined,
    },
    exit: () => undefined,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      asked += text;
      if (!/[:\]] ?$/.test(text)) return;
      const answer = left.shift() ?? null;
      setImmediate(() => (answer === null ? input.end() : input.write(`${answer}\n`)));
    },
  });
  return { out, asked };
}

describe('on a terminal', () => {
  it('asks four questions, again where an answer cannot be used', async () => {
    using folder = createProject({});
    const { out, asked } = await answering(folder.root, [
      '4',
      'Germany',
      'de',
      '',
      'stranger',
      'Mill <hello@mill.example>',
    ]);
    expect(out).toContain('Made in');
    expect(asked).toContain('is not a country with telephone numbers');
    expect(asked).toContain('"stranger" is not a sender of emails');
    expect(parse(readFileSync(folder.path('campaigns/hello/campaign.yaml'), 'utf8'))).toMatchObject({
      channel: 'email',
      from: 'Mill <hello@mill.example>',
    });
    expect(readFileSync(folder.path('handbill.yaml'), 'utf8')).toContain('defaultCountry: DE');
  });

  it('takes the defaults on Enter', async () => {
    using folder = createProject({});
    await answering(folder.root, ['', '', '', '']);
    expect(readFileSync(folder.path('campaigns/hello/campaign.yaml'), 'utf8')).toContain('from: Riverside\n');
    expect(readFileSync(folder.path('handbill.yaml'), 'utf8')).toContain('# environments:\n');
  });

  it('asks for the provider among those that have the channel', async () => {
    using folder = createProject({});
    const { asked } = await answering(folder.root, ['4', '', '9', '4', '']);
    expect(asked).toMatch(/Which messaging API do you use\?\n1\) decide later.*\n2\) GOV\.UK Notify\n3\) Mailgun\n/);
    expect(asked).toContain('5) Postmark\nNumber [1]: Type a number from 1 to 5.');
    expect(parse(readFileSync(folder.path('handbill.yaml'), 'utf8')).environments.production).toMatchObject({
      provider: 'messages-v2',
    });
  });

  it('makes nothing for a user who leaves', async () => {
    using folder = createProject({});
    await expect(answering(folder.root, ['1', null])).rejects.toThrow('the questions were not answered');
    expect(readdirSync(folder.root)).toEqual([]);
  });
});

test('docs/start.md shows what is printed', async () => {
  using folder = createProject({});
  const page = readFileSync(join(ROOT, 'docs/start.md'), 'utf8');
  const [, args = '', shown = ''] = /```console\n\$ handbill (.*)\n([\s\S]*?)\.\.\.\n```/.exec(page) ?? [];
  const { out } = await handbillHere(folder.root, args.split(' '));
  expect(shown.length).toBeGreaterThan(100);
  expect(out.startsWith(shown), out).toBe(true);
});
