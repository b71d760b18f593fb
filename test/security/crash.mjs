// Preloaded into the command line (`--import`): makes something throw that handbill does not expect, with the key in it.
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';

const error = () => {
  const key = process.env['HANDBILL_API_KEY'];
  return new Error(`broken: ${key} ${encodeURIComponent(key)} ${Buffer.from(`x:${key}`).toString('base64')}`, {
    cause: { headers: { 'x-api-key': key } },
  });
};

switch (process.env['CRASH']) {
  case 'exception':
    DatabaseSync.prototype.prepare = () => {
      throw error();
    };
    break;
  case 'timer':
    setTimeout(() => {
      throw error();
    }, 0);
    break;
  case 'rejection':
    setTimeout(() => void Promise.reject(error()), 0);
    break;
}
