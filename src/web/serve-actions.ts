import { HandbillError } from '../errors.ts';
import { resolveDoubts, userHere } from '../operations/doubt-resolve.ts';
import { reviewReplies } from '../operations/replies.ts';
import { addSuppressions, removeSuppressions } from '../operations/suppress-change.ts';
import { doubtQuestionPage } from '../pages/serve-doubt.ts';
import { address, type Content, type Notice, type View } from '../pages/serve-layout.ts';
import { removalQuestionPage } from '../pages/serve-suppressions.ts';
import { countOf } from '../report/words.ts';
import type { Site } from './serve-site.ts';

/** What a form came to: a question that has to be answered first, or what was done and where to go on. */
export type Done = { readonly question: Content } | { readonly notice: Notice; readonly to: string };

/** What a form of a page does: what the command of the same name does, by its own function. */
export type Action = (site: Site, view: View, form: URLSearchParams) => Promise<Done>;

export const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['/doubt', resolve],
  ['/replies', review],
  ['/suppressions', suppress],
]);

/** Does it, and says what is wrong where it is refused. A bug is thrown. */
export async function act(action: Action, site: Site, view: View, form: URLSearchParams, from: string): Promise<Done> {
  try {
    return await action(site, view, form);
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    const said = error.diagnostics
      .slice(0, 5)
      .flatMap(({ message, hint }) => [message, ...(hint === undefined ? [] : [hint])]);
    return { notice: { text: said.join(' '), isBad: true }, to: from };
  }
}

/** Of the process that serves: whoever may act here acts in its name, as on its command line. */
function optionsOf({ context, ledger }: Site) {
  const { cwd, env, now } = context;
  return { cwd, env, now, ...(ledger === undefined ? {} : { ledger }) };
}

async function resolve(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const verdict = form.get('as');
  if (verdict !== 'accepted' && verdict !== 'rejected') return refused('It is not said what became of them.', '/doubt');
  const run = form.get('run') ?? '';
  const lines = form
    .getAll('line')
    .filter((line) => /^\d{1,12}$/.test(line))
    .map(Number);
  if (lines.length === 0) return refused('No recipient was chosen.', '/doubt');
  const messageId = (form.get('messageId') ?? '').trim();
  const note = (form.get('note') ?? '').trim();
  if (form.get('sure') !== 'yes') {
    return { question: doubtQuestionPage(view, { run, as: verdict, lines, messageId, note }) };
  }
  const { resolved } = await resolveDoubts({
    ...optionsOf(site),
    run,
    verdict,
    lines,
    by: userHere(),
    ...(messageId === '' ? {} : { messageId }),
    ...(note === '' ? {} : { note }),
    confirm: async () => true,
  });
  return done(`${countOf(resolved.length, 'recipient')} recorded as ${verdict}.`, '/doubt');
}

async function review(site: Site, _view: View, form: URLSearchParams): Promise<Done> {
  const as = form.get('as');
  const id = form.get('id') ?? '';
  const to = address(['replies'], { meaning: (form.get('meaning') ?? '').slice(0, 20) });
  if ((as !== 'opt-out' && as !== 'opt-in' && as !== 'answer') || !/^\d{1,15}$/.test(id)) {
    return refused('It is not said what the reply means.', to);
  }
  const { suppressed, lifted } = await reviewReplies({ ...optionsOf(site), ids: [Number(id)], as, by: userHere() });
  const effects = [
    ...(suppressed.length === 0 ? [] : [` ${countOf(suppressed.length, 'address', 'addresses')} suppressed since.`]),
    ...(lifted.length === 0 ? [] : [` ${countOf(lifted.length, 'opt-out')} taken back.`]),
  ];
  return done(`The reply is entered as ${as}.${effects.join('')}`, to);
}

async function suppress(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const who = (form.get('address') ?? '').trim();
  const to = '/suppressions';
  if (who === '') return refused('It is not said who is meant.', to);
  const { ledger, ...options } = optionsOf(site);
  const given = ledger === undefined ? {} : { ledger };
  if (form.get('do') === 'add') {
    const [reason, until] = [form.get('reason') ?? '', form.get('until') ?? ''].map((text) => text.trim());
    const facts = { ...given, ...(reason ? { reason } : {}), ...(until ? { until } : {}) };
    const { added } = await addSuppressions([who], facts, options);
    return done(added === 1 ? `${who} is suppressed.` : `${who} was suppressed before.`, to);
  }
  if (form.get('do') === 'remove') {
    const { removed } = await removeSuppressions([who], given, options);
    return done(removed === 1 ? `${who} is off the list.` : `${who} was not on the list.`, to);
  }
  return { question: removalQuestionPage(view, who) };
}

function done(text: string, to: string): Done {
  return { notice: { text, isBad: false }, to };
}

function refused(text: string, to: string): Done {
  return { notice: { text, isBad: true }, to };
}
