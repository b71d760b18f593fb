import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ABOUT_NOTHING } from '../../src/operations/observer.ts';
import { createLog, type LogFile, openLogFile } from '../../src/telemetry/log.ts';
import { createProject } from '../helpers/project.ts';
import { eventsIn, recordsIn } from './log-schema.ts';

describe('the file of a log', () => {
  it('is made only for its owner, and appended to', () => {
    using folder = createProject({});
    const path = folder.path('run.log');
    const before = process.umask(0);
    try {
      for (const line of ['one\n', 'two\n']) {
        const file = openLogFile(path);
        expect(file.append(line)).toBeNull();
        file.close();
      }
    } finally {
      process.umask(before);
    }
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each<[label: string, make: (path: string, root: string) => void, why: string]>([
    [
      'a link',
      (path, root) => {
        writeFileSync(`${root}/target`, 'kept');
        symlinkSync(`${root}/target`, path);
      },
      'it is a link',
    ],
    ['a link to nothing', (path, root) => symlinkSync(`${root}/nothing`, path), 'it is a link'],
    ['a folder', (path) => mkdirSync(path), 'it is a folder'],
    ['a pipe without a reader', (path) => void execFileSync('mkfifo', [path]), 'it is not a regular file'],
    ['a ledger', (path) => writeFileSync(path, 'SQLite format 3\0 ...'), 'it is a database, such as a ledger'],
  ])('is not %s', (_label, make, why) => {
    using folder = createProject({});
    const path = folder.path('run.log');
    make(path, folder.root);
    const before = lstatSync(path).mode;
    expect(() => openLogFile(path)).toThrow(why);
    expect(lstatSync(path).mode).toBe(before);
    expect([...folder.contents().values()].map(String).join('')).toMatch(/^(kept|SQLite format 3\0 \.\.\.)?$/);
  });

  it('needs its folder', () => {
    using folder = createProject({});
    expect(() => openLogFile(folder.path('none/run.log'))).toThrow('its folder does not exist');
  });
});

describe('a log that cannot be written', () => {
  /** A disk that is full for a while. */
  function fullDisk(): LogFile & { full: boolean; text: string } {
    return {
      full: true,
      text: '',
      append(lines) {
        if (this.full) return 'the disk is full';
        this.text += lines;
        return null;
      },
      close: () => undefined,
    };
  }

  it('says so once, and how many records were lost when it can be written again', () => {
    const file = fullDisk();
    const said: string[] = [];
    const log = createLog({
      file,
      level: 'info',
      command: 'listen',
      now: () => 0,
      redact: (text) => text,
      onLost: (why) => said.push(why),
    });
    const write = () => log.write('info', 'webhook-notice', 'Something.', {}, ABOUT_NOTHING);
    for (let i = 0; i < 3; i++) write();
    file.full = false;
    write();
    write();
    expect(said).toEqual(['the disk is full']);
    expect(eventsIn(file.text)).toEqual(['log-resumed', 'webhook-notice', 'webhook-notice']);
    expect(recordsIn(file.text)[0]?.['lost']).toBe(3);
  });

  it('leaves a torn line behind at most, and begins the next one anew', () => {
    using folder = createProject({});
    const path = folder.path('run.log');
    // The largest file of that process: half of a line fits.
    const script = `
      import { openLogFile } from ${JSON.stringify(new URL('../../src/telemetry/log.ts', import.meta.url).href)};
      const file = openLogFile(${JSON.stringify(path)});
      process.on('SIGXFSZ', () => undefined);
      console.log(file.append('x'.repeat(700) + '\\n'), file.append('y'.repeat(700) + '\\n'));`;
    const shell = 'ulimit -f 1; exec "$@"';
    const args = ['-c', shell, 'limits', process.execPath, '--input-type=module', '-e', script];
    // Node would write what it has compiled, too.
    const env = { PATH: process.env['PATH'] };
    expect(execFileSync('bash', args, { encoding: 'utf8', env })).toBe('null it is too large\n');
    const file = openLogFile(path);
    file.append('z\n');
    file.close();
    expect(readFileSync(path, 'utf8').split('\n')[0]).toBe('x'.repeat(700));
  });
});
