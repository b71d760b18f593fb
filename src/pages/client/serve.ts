import { follow } from './serve-follow.ts';

const main = document.querySelector<HTMLElement>('main[data-events]');
const address = main?.dataset['events'];
if (address !== undefined && 'EventSource' in globalThis) follow(address);
