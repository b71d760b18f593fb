import { describeEach } from './each-scenes.ts';

describeEach('in a file', async () => undefined);
