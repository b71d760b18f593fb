import { HandbillError } from '../errors.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { CommandContext } from '../operations/context.ts';
import { DOUBT_FIELDS, doubtsOf, resolveDoubts, userHere } from '../operations/doubt.ts';
import { pauseSending, resumeSending } from '../operations/pause.ts';
import { previewRows } from '../operations/preview.ts';
import { ledgerHere, optionsHere } from '../operations/project.ts';
import { earlierText, reviewReplies } from '../operations/replies.ts';
import { openSummary, rowsOf } from '../operations/report.ts';
import { addSuppressions, removeSuppressions } from '../operations/suppress-change.ts';
import { unassignedSentences } from '../operations/warnings.ts';
import { formatCsv } from '../report/format-csv.ts';
import { pausedScope } from '../report/pause-words.ts';
import { countOf } from '../report/words.ts';
import { listText } from '../util/list-text.ts';
import { createYields } from '../util/long-work.ts';
import { campaignFiles } from './pages/campaigns.ts';
import { doubtQuestionPage } from './pages/doubt.ts';
import type { Content, Notice, View } from './pages/layout.ts';
import { sentencesOf, withPauses } from './pages/pages.ts';
import { pauseQuestionPage, resumeQuestionPage } from './pages/pauses.ts';
import { filterOf, queryOf } from './pages/recipients.ts';
import { replyQuestion } from './pages/replies.ts';
import { additionQuestionPage, removalQuestionPage } from './pages/suppressions.ts';
import { previewHtml } from './preview/preview.ts';
import { runPage } from './report/run-page.ts';
import { matches } from './rows.ts';
import { type Site, whole } from './site.ts';

type Done = { readonly question: Content } | { readonly notice: Notice; readonly to: string };

/** Calls the operation of the command with the same name. */
type Action = (site: Site, view: View, form: URLSearchParams) => Promise<Done>;

export const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['/doubt', resolve],
  ['/pause', pause],
  ['/replies', review],
  ['/suppressions', suppress],
]);

/** Shows a refusal as a page. Throws a bug. */
export async function act(action: Action, site: Site, view: View, form: URLSearchParams, from: string): Promise<Done> {
  try {
    const done = await action(site, view, form);
    if (!('question' in done)) return done;
    const asked = { ...view, actions: 'off' as const };
    const { content } = await withPauses(site, site.keeper.current(), ['question'], asked, whole(done.question));
    return { question: content };
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return refused(sentencesOf(error).join(' '), from);
  }
}

/** Options of the server process: a user who may act here acts with its rights, as on its command line. */
const optionsOf = ({ context, ledger }: Site) => optionsHere(context, ledger);

async function resolve(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const verdict = form.get('as');
  if (verdict !== 'accepted' && verdict !== 'rejected') return refused('The outcome is missing.', '/doubt');
  const run = form.get('run') ?? '';
  const lines = form
    .getAll('line')
    .filter((line) => /^\d{1,12}$/.test(line))
    .map(Number);
  if (lines.length === 0) return refused('No recipient was chosen.', '/doubt');
  const messageId = (form.get('messageId') ?? '').trim();
  const note = (form.get('note') ?? '').trim();
  if (form.get('sure') !== 'yes') {
    return { question: doubtQuestionPage(view, { run, as: verdict, line: lines, messageId, note }) };
  }
  const { resolved } = await resolveDoubts(run, {
    ...optionsOf(site),
    verdict,
    lines,
    by: userHere(),
    ...(messageId === '' ? {} : { messageId }),
    ...(note === '' ? {} : { note }),
    confirm: true,
  });
  return done(`${countOf(resolved.length, 'recipient')} recorded as ${verdict}.`, '/doubt');
}

async function pause(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const environment = form.get('environment') ?? '';
  const campaign = form.get('campaign') === '' ? null : form.get('campaign');
  const scope = { environment, campaign };
  if (form.get('do') === 'ask-pause') return { question: pauseQuestionPage(view, scope) };
  if (form.get('do') === 'ask-resume') return { question: resumeQuestionPage(view, scope) };
  const options = { ...optionsOf(site), environment, ...(campaign === null ? {} : { campaign }), by: userHere() };
  if (form.get('do') === 'resume') {
    const { ended } = await resumeSending(options);
    return done(`${pausedScope(scope)} ${ended === null ? 'was not paused' : 'is resumed'}.`, '/');
  }
  const { isNew } = await pauseSending({ ...options, reason: form.get('reason') ?? '' });
  return done(`${pausedScope(scope)} ${isNew ? 'is paused' : 'was paused before'}.`, '/');
}

async function review(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const as = form.get('as');
  const ids = form.getAll('id').map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
  const back = form.get('back') ?? '';
  const to = /^\/replies(?:\?[!-~]*)?$/.test(back) ? back : '/replies';
  if ((as !== 'opt-out' && as !== 'opt-in' && as !== 'answer') || ids.length === 0 || ids.includes(0)) {
    return refused('The meaning of the reply is missing.', to);
  }
  const open = site.keeper.current();
  if (open !== null && ids.length > 1 && form.get('sure') !== 'yes')
    return { question: await replyQuestion(site, open, view, { as, ids, back: to }) };
  const made = await reviewReplies(ids, { ...optionsOf(site), as, by: userHere(), onlyUnread: true });
  if (made.reviewed === 0) return { notice: { text: earlierText(made), isBad: true, isDecided: true }, to };
  const { suppressed, lifted, unassigned } = made;
  const effects = [
    ...(suppressed.length === 0 ? [] : [` ${countOf(suppressed.length, 'address', 'addresses')} suppressed since.`]),
    ...(lifted.length === 0 ? [] : [` ${countOf(lifted.length, 'opt-out')} taken back.`]),
    ...unassignedSentences(unassigned).map((one) => ` ${one}`),
  ];
  const what = ids.length === 1 ? 'The reply is' : `${countOf(ids.length, 'reply', 'replies')} are`;
  return done(`${what} entered as ${as}.${effects.join('')}`, to);
}

async function suppress(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const who = (form.get('address') ?? '').trim();
  const to = '/suppressions';
  if (who === '') return refused('No recipient is named.', to);
  const topic = (form.get('topic') ?? '').trim();
  const options = { ...optionsOf(site), ...(topic === '' ? {} : { topic }) };
  if (form.get('do') === 'ask-add') return { question: additionQuestionPage(view, who) };
  if (form.get('do') === 'add') {
    const [reason, until] = [form.get('reason') ?? '', form.get('until') ?? ''].map((text) => text.trim());
    const facts = { ...options, ...(reason ? { reason } : {}), ...(until ? { until } : {}) };
    const { added } = await addSuppressions([who], facts);
    return done(added === 1 ? `${who} is suppressed.` : `${who} was suppressed before.`, to);
  }
  if (form.get('do') === 'remove') {
    const { removed } = await removeSuppressions([who], options);
    return done(removed === 1 ? `${who} is off the list.` : `${who} was not on the list.`, to);
  }
  return { question: removalQuestionPage(view, who, topic === '' ? null : topic) };
}

function done(text: string, to: string): Done {
  return { notice: { text, isBad: false }, to };
}

function refused(text: string, to: string): Done {
  return { notice: { text, isBad: true }, to };
}

/** The page of `handbill report --format html`. Other requests are answered while it goes through the list. */
export async function* reportOf(site: Site, run: RunRecord): AsyncGenerator<string> {
  // Through another connection, because it holds one moment: other pages show updates meanwhile.
  using ledger = ledgerHere(site.reading, site.context);
  const summary = await openSummary(ledger, run, contextOf(site), site.reading.project);
  yield* runPage(ledger, run, { nowMs: site.context.now(), turn: createYields() }, summary);
}

/** The records of `handbill report --format csv` for the recipients that filters choose; ignores a search. */
export async function* csvOf(site: Site, run: RunRecord, query: URLSearchParams): AsyncGenerator<string> {
  using ledger = ledgerHere(site.reading, site.context);
  const { plain, options } = await openSummary(ledger, run, contextOf(site), site.reading.project);
  const filter = filterOf(site, { ...queryOf(query), q: '' });
  const turn = createYields();
  async function* chosen() {
    for (const batch of rowsOf(ledger, run, {}, options)) {
      yield batch.filter((outcome) => matches(outcome, filter));
      await turn();
    }
  }
  yield* formatCsv(plain(), chosen(), options);
}

/** The records of `handbill doubt list --format csv`, for the provider to look for. */
export async function* doubtCsvOf({ reading, context }: Site, run: RunRecord): AsyncGenerator<string> {
  using ledger = ledgerHere(reading, context);
  yield* listText('csv', 'doubts', DOUBT_FIELDS, doubtsOf(ledger, run, reading.project, false));
}

/** The page of `handbill preview --format html`: sends nothing. Null where no such campaign is shown. */
export async function previewOf(site: Site, file: string, environment: string): Promise<AsyncGenerator<string> | null> {
  const found = (await campaignFiles(site)).find((one) => one.file === file);
  if (found === undefined) return null;
  const dry = await previewRows(found.path, {
    ...site.context,
    ...(site.reading.project.environments.has(environment) ? { environment } : {}),
    ledger: site.ledger,
  });
  return closing(previewHtml(dry), dry.close);
}

async function* closing(pieces: AsyncGenerator<string>, close: () => void): AsyncGenerator<string> {
  try {
    yield* pieces;
  } finally {
    close();
  }
}

function contextOf({ context }: Site): CommandContext {
  const nowhere = (): void => undefined;
  return {
    ...context,
    out: nowhere,
    err: nowhere,
    colour: { out: false, err: false },
    width: 80,
    interactive: false,
    exit: nowhere,
  };
}
