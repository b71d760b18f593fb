import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, it, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkOptions } from '../helpers/check-options.ts';
import { DEPLOY, ignored, readDockerfile } from './dockerfile.ts';

const RESTRICTED = {
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    },
  ],
};

const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');

describe('the Dockerfile', () => {
  const steps = readDockerfile();
  const one = (keyword: string): string => steps.find((step) => step.keyword === keyword)?.rest ?? '';

  it('has nothing that a linter complains about', () => {
    expect(validate(read('Dockerfile')).map(({ message }) => message)).toEqual([]);
  });

  it('would be told of a mistake by that linter', () => {
    expect(validate('FROM node:24-slim\nRUM npm ci\n')).toHaveLength(1);
  });

  it('is a small one of Node.js 24, not run by root', () => {
    expect(one('FROM')).toBe('node:24-slim');
    expect(one('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(steps.filter(({ keyword }) => keyword === 'USER')).toHaveLength(1);
  });

  it('starts handbill as process 1, without a shell or npm that signals would go to', () => {
    expect(JSON.parse(one('ENTRYPOINT'))).toEqual(['node_modules/.bin/handbill']);
  });

  it('keeps its ledger where the manifests that handbill prints mount the volume', () => {
    const ledger = steps.map(({ rest }) => /^HANDBILL_LEDGER=(.*)/.exec(rest)?.[1]).find((path) => path !== undefined);
    expect(ledger).toBe('/var/lib/handbill/ledger/ledger.db');
    expect(readFileSync(join(DEPLOY, '../../src/schedule/callers.ts'), 'utf8')).toContain("'/var/lib/handbill'");
  });
});

test.each([
  ['.env', true],
  ['messaging/.env', true],
  ['messaging/.env.production', true],
  ['messaging/keys/api.key', true],
  ['key.pem', true],
  ['a/.handbill', true],
  ['a/b/ledger.db', true],
  ['.npmrc', true],
  ['messaging/handbill.yaml', false],
  ['campaigns/environment/people.csv', false],
])('the image is made without %s: %s', (path, isIgnored) => {
  expect(ignored().some((pattern) => pattern.test(path))).toBe(isIgnored);
});

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };

  interface Service {
    readonly image: string;
    readonly entrypoint?: readonly string[];
    readonly command?: readonly string[];
    readonly stop_grace_period?: string;
    readonly depends_on?: object;
    readonly environment: Readonly<Record<string, string>>;
  }
  const ours = Object.entries(services).filter(([, { image }]) => image === 'campaigns');

  it('has the ledger, workers, the receiver of reports, and what is called', () => {
    expect(Object.keys(services)).toEqual(['ledger', 'worker', 'listen', 'send', 'due']);
    expect(services['ledger']?.image).toMatch(/^postgres:\d+$/);
  });

  test.each(ours)('%s calls handbill with options that there are, and waits for the ledger', async (_, service) => {
    const words = [...(service.entrypoint ?? []).slice(1), ...(service.command ?? [])];
    await checkOptions(words);
    expect(service.depends_on).toEqual({ ledger: { condition: 'service_healthy' } });
    expect(service.stop_grace_period).toBe('45s');
    expect(service.environment['HANDBILL_LEDGER']).toBe('postgres://handbill@ledger/handbill?sslmode=disable');
  });

  it('holds no secret', () => {
    for (const [, { environment }] of Object.entries(services)) {
      const secrets = Object.entries(environment).filter(([name]) => /PASSWORD|KEY|SECRET/.test(name));
      expect(secrets.length).toBeGreaterThan(0);
      for (const [name, value] of secrets) expect(value, name).toMatch(/^\$\{\w+:/);
    }
  });
});

describe('workers.yaml', () => {
  const documents = parseAllDocuments(read('workers.yaml'));

  it('is a Deployment and a CronJob', () => {
    for (const document of documents) expect(document.errors).toEqual([]);
    expect(documents.map((document) => document.get('kind'))).toEqual(['Deployment', 'CronJob']);
  });

  it('gives its containers no right that they do not need', () => {
    for (const document of documents) {
      const kind = document.get('kind');
      const spec = document.getIn(
        [...(kind === 'CronJob' ? ['spec', 'jobTemplate'] : []), 'spec', 'template', 'spec'],
        true,
      );
      expect(parse(String(spec))).toMatchObject(RESTRICTED);
    }
  });

  it('calls handbill with options that there are', async () => {
    const lists = [...read('workers.yaml').matchAll(/args: \[([^\]]+)\]/g)].map(([, list = '']) => list);
    expect(lists).toHaveLength(2);
    for (const list of lists) await checkOptions(list.split(',').map((one) => one.trim().replaceAll("'", '')));
  });
});

it('the unit of systemd is as hardened as the one that handbill prints', () => {
  const lines = read('handbill-worker.service').split('\n');
  for (const line of ['NoNewPrivileges=true', 'PrivateTmp=true', 'UMask=0077', 'LimitCORE=0'])
    expect(lines).toContain(line);
  expect(lines.some((line) => line.startsWith('ProtectSystem='))).toBe(true);
});

it('the unit of systemd calls handbill with options that there are', async () => {
  const [, words = ''] = /^ExecStart=.*\/dist\/cli\.js (.*)$/m.exec(read('handbill-worker.service')) ?? [];
  await checkOptions(words.split(' '));
});
