import type { Edit } from '../mutants/mutant.ts';

/** A toy entry for a list of docs/internals/contributing.md. */
export interface Addition {
  /** The headings of the lists that it follows. */
  readonly lists: readonly string[];
  /** The most files that such an entry takes by hand: the rows of these lists that every entry needs. */
  readonly most?: number;
  readonly edits: readonly Edit[];
}

const TEXT_KEY = (name: string, description: string): string =>
  `"${name}": { "description": "${description}", "type": "string", "examples": ["a"] },`;

export const ADDITIONS: Readonly<Record<string, Addition>> = {
  'a rule with a key under recipients': {
    lists: ['Add a key under `recipients`', 'Add a rule that skips recipients'],
    most: 6,
    edits: [
      before('schemas/campaign.schema.json', '"headerRow": {', TEXT_KEY('toyPrefix', 'Skips keys with it.')),
      after('src/model/campaign.ts', 'export const PLAIN_LIST_KEYS: PlainListKeys = {', 'toyPrefix: null,'),
      after('src/model/campaign.ts', 'interface PlainListKeys {', 'readonly toyPrefix: string | null;'),
      after('src/plan/settings.ts', 'const RECIPIENTS = {', "toyPrefix: 'message',"),
      after(
        'src/model/decision.ts',
        'export const SKIP_WORDS = {',
        "toy: { means: 'a toy', advice: 'Nothing to do.' },",
      ),
      after(
        'src/plan/skip-rules.ts',
        'const RULES: readonly Rule[] = [',
        `{
          reason: 'toy',
          open({ campaign: { recipients: { toyPrefix } } }) {
            return toyPrefix === null ? null : ({ key }) => (key.startsWith(toyPrefix) ? toyPrefix : null);
          },
        },`,
      ),
    ],
  },
  'an option of send that the run keeps': {
    lists: ['Keep something with a run'],
    most: 6,
    edits: [
      after(
        'src/operations/send-options.ts',
        'export const SEND = {',
        "toyTag: { scope: 'run', flag: '--toy-tag <text>', says: 'keep a tag with the run', without: 'none' },",
      ),
      after('src/send/start.ts', 'export interface PreparedStart {', 'readonly toyTag?: string | undefined;'),
      {
        file: 'src/send/run.ts',
        was: '{ state, halt, figures, nowMs: now() }',
        is: '{ state, halt, figures: { ...figures, ...(start.toyTag && { toyTag: start.toyTag }) }, nowMs: now() }',
      },
      after(
        'src/send/summary.ts',
        "...timeIn(run.figures, 'opensAtMs', (opensAt) => ({ opensAt })),",
        "...(typeof run.figures?.['toyTag'] === 'string' ? { toyTag: run.figures['toyTag'] } : {}),",
      ),
      before('schemas/report.schema.json', '"opensAt": {', TEXT_KEY('toyTag', 'The tag of the run.')),
    ],
  },
  'a format of the report': {
    lists: ['Add a format of the report'],
    most: 4,
    edits: [
      {
        file: 'src/report/format-toy.ts',
        was: '',
        is: `import type { Report } from '../model.ts';
        export async function* formatToy({ campaign, state }: Report): AsyncGenerator<string> {
          yield \`toy \${campaign} \${state}\\n\`;
        }
        `,
      },
      after(
        'src/report/formats.ts',
        'export const FORMATS = {',
        "toy: { rows: false, load: async () => (await import('./format-toy.ts')).formatToy },",
      ),
    ],
  },
  'a command': {
    lists: ['Add a command'],
    edits: [
      {
        file: 'src/cli/toy/command.ts',
        was: '',
        is: `import type { CommandContext } from '../../operations/context.ts';
        import type { FlagsOf } from '../../operations/options.ts';
        import { optionsHere } from '../../operations/project.ts';
        import { TOY, toy } from '../../operations/toy.ts';
        export const FLAGS = TOY;
        export async function run(context: CommandContext, flags: FlagsOf<typeof TOY>): Promise<void> {
          await context.out((await toy({ ...optionsHere(context, undefined), ...flags })).said);
        }
        `,
      },
      {
        file: 'src/operations/toy.ts',
        was: '',
        is: `import { type OptionsOf, type OptionTable, type ProjectOptions, withDefaults } from './options.ts';
        export const TOY = {
          times: { flag: '--times <n>', says: 'so many times', without: '1', range: [1, 9, 'whole'] },
        } as const satisfies OptionTable;
        export interface ToyOptions extends ProjectOptions, OptionsOf<typeof TOY> {}
        export async function toy(options: ToyOptions = {}): Promise<{ readonly said: string }> {
          return { said: 'toy\\n'.repeat(withDefaults(options, TOY).times ?? 1) };
        }
        `,
      },
      after('src/cli/commands.json', '  "More:": {', '"toy": { "summary": "say toy" },'),
      before(
        'src/index.ts',
        'export { type DoctorOptions,',
        "export { type ToyOptions, toy } from './operations/toy.ts';",
      ),
    ],
  },
  'a field of an environment': {
    lists: ['Add a field of an environment'],
    edits: [
      before(
        'schemas/project.schema.json',
        '          "proxy": {\n            "description": "HTTP proxy',
        TEXT_KEY('toyNote', 'A note.'),
      ),
      after('src/model/project.ts', 'export interface Environment {', 'readonly toyNote: string | null;'),
      after('src/campaign/environments.ts', '    identity: name,', 'toyNote: written.toyNote ?? null,'),
      after('src/plan/settings.ts', 'const ENVIRONMENT = {', "toyNote: 'message',"),
    ],
  },
  'a provider with a key of its own': {
    lists: ['Add a provider'],
    edits: [
      {
        file: 'src/providers/toy.yaml',
        was: '',
        is: `title: Toy
url: https://toy.example/send
channels: { sms: text }
toyMark: first
requests:
  - form: { number: "{to}", text: "{text}" }
`,
      },
      before('schemas/provider.schema.json', '    "msisdn": {', TEXT_KEY('toyMark', 'A mark.')),
      after('src/providers/provider.ts', 'export interface Provider {', 'readonly toyMark: string | null;'),
      after('src/campaign/read-provider.ts', '    title: file.title,', 'toyMark: file.toyMark ?? null,'),
    ],
  },
  'a channel': {
    lists: ['Add a channel'],
    edits: [
      {
        file: 'src/content/toy-fax.ts',
        was: '',
        is: `import type { ChannelEntry } from './channel.ts';
        export const toyFax: ChannelEntry = {
          label: 'Fax',
          address: 'msisdn',
          keys: ['toyCover'],
          check: () => [],
          describe: ({ text }) => ({ on: 'phone', elements: text === null ? [] : [{ kind: 'text', text }] }),
          reported: 'fax',
          init: { label: 'fax', template: 'Hi', yaml: '', sender: 'number' },
        };
        `,
      },
      after('src/content/channels.ts', "import { sms } from './sms.ts';", "import { toyFax } from './toy-fax.ts';"),
      after('src/content/channels.ts', 'export const CHANNEL_TABLE = {', "'toy-fax': toyFax,"),
      { file: 'src/providers/messages-v2.yaml', was: 'channels: { ', is: 'channels: { toy-fax: Fax, ' },
      {
        file: 'schemas/campaign.schema.json',
        was: '"email", "voice"],\n      "enumD',
        is: '"email", "voice", "toy-fax"],\n      "enumD',
      },
      before(
        'schemas/campaign.schema.json',
        '        "repeat": {\n          "description": "How many',
        TEXT_KEY('toyCover', 'Its first page.'),
      ),
      before(
        'schemas/messages.openapi.json',
        '          "footer": {\n            "type": "string",\n            "description": "Small print',
        '"toyCover": { "type": "string" },',
      ),
    ],
  },
};

function after(file: string, anchor: string, text: string): Edit {
  return { file, was: anchor, is: `${anchor}\n${text}` };
}

function before(file: string, anchor: string, text: string): Edit {
  return { file, was: anchor, is: `${text}\n${anchor}` };
}
