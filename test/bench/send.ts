import { join } from 'node:path';
import { API_KEY, addWalk, type Bench, forgetRuns, inTurn, median } from './bench.ts';
import { measure, startSandbox, type Usage } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const REPEATS = 3;
/** Recipients of a request, where several may share one. */
const SHARING = 20;

/**
 * A whole `send` - check pass, ledger, report - and the bare loop, in turn against the same server. The first loop warms
 * the server and is not counted.
 */
export async function measureSend(bench: Bench): Promise<void> {
  const { messages } = bench.sizes;
  const sandbox = await startSandbox(bench.folder, API_KEY);
  try {
    await writeProject(bench.folder, sandbox.url);
    const campaign = await writeCampaign(bench.folder, messages);
    const sharing = `concurrency: 64, recipientsPerRequest: ${SHARING}`;
    const same = await writeCampaign(bench.folder, messages, sharing, 'The branch is open again. Riverside');
    await bareLoop(bench, sandbox.url);
    const { send, bare, shared } = await inTurn(REPEATS, {
      send: () => sendAnew(bench, campaign),
      bare: () => bareLoop(bench, sandbox.url),
      shared: () => sendAnew(bench, same),
    });
    addAll(bench, send, bare);
    addShared(bench, middle(shared), middle(send));
  } finally {
    sandbox.process.kill('SIGTERM');
  }
}

function addAll(bench: Bench, send: readonly Usage[], bare: readonly Usage[]): void {
  const { messages } = bench.sizes;
  const [sent, looped] = [middle(send), middle(bare)];
  const peakGoal = { atMost: 200 };
  addWalk(bench, { id: 'send', what: 'send', count: messages, unit: 'message', peakGoal }, sent);
  addWalk(bench, { id: 'bare', what: 'bare undici loop', count: messages, unit: 'message' }, looped);
  const against = sent.cpuUs / looped.cpuUs;
  const what = 'send against the bare undici loop, CPU';
  bench.add({ id: 'send-against-bare', what, value: against, unit: 'times', goal: { atMost: 2.2 } });
  const rate = ({ wallMs }: Usage): number => (messages / wallMs) * 1000;
  bench.add({ id: 'send-rate', what: 'send, on the clock', value: rate(sent), unit: 'messages/s' });
  bench.add({ id: 'bare-rate', what: 'bare undici loop, on the clock', value: rate(looped), unit: 'messages/s' });
}

/** The same list with one text for all, and several recipients in a request. */
function addShared(bench: Bench, shared: Usage, send: Usage): void {
  const { messages } = bench.sizes;
  const what = `send, ${SHARING} recipients in a request`;
  addWalk(bench, { id: 'send-shared', what, count: messages, unit: 'message' }, shared);
  const value = (messages / shared.wallMs) * 1000;
  bench.add({ id: 'send-shared-rate', what: `${what}, on the clock`, value, unit: 'messages/s' });
  bench.add({
    id: 'send-shared-against-one',
    what: `${what}, against one in each, CPU`,
    value: shared.cpuUs / send.cpuUs,
    unit: 'times',
    goal: { atMost: 1 },
  });
}

function sendAnew(bench: Bench, campaign: string): Promise<Usage> {
  forgetRuns(bench.folder);
  const nodeOptions = bench.profileFolder === null ? [] : ['--cpu-prof', '--cpu-prof-dir', bench.profileFolder];
  return bench.handbill(['send', campaign, '--env', 'local', '--yes'], { nodeOptions });
}

/** As many POSTs of the same bodies as the campaign has rows. */
function bareLoop({ folder, sizes }: Bench, url: string): Promise<Usage> {
  const script = join(import.meta.dirname, 'bare-loop.ts');
  // Its types are stripped once, and not in each measured process, where that takes 40 ms; the built command has none.
  const env = { HANDBILL_API_KEY: API_KEY, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  return measure(script, [url, String(sizes.messages)], { cwd: folder, env });
}

function middle(usages: readonly Usage[]): Usage {
  return {
    cpuUs: median(usages.map(({ cpuUs }) => cpuUs)),
    peakBytes: median(usages.map(({ peakBytes }) => peakBytes)),
    wallMs: median(usages.map(({ wallMs }) => wallMs)),
  };
}
