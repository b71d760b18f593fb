import { HandbillError } from '../errors.ts';
import type { RunRecord } from '../ledger/records.ts';
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
    const { content } = await withPauses(site, ['question'], asked, whole(done.question));
    return { question: content };
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    return done(sentencesOf(error).join(' '), from, true);
  }
}

/** Options of the server process: a user who may act here acts with its rights, as on its command line. */
const optionsOf = ({ context, ledger }: Site) => optionsHere(context, ledger);

async function resolve(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const verdict = form.get('as');
  const [run, messageId, note] = [textIn(form, 'run'), textIn(form, 'messageId'), textIn(form, 'note')];
  if (verdict !== 'accepted' && verdict !== 'rejected') return done('The outcome is missing.', '/doubt', true);
  const lines = form.getAll('line').flatMap((line) => (/^\d{1,12}$/.test(line) ? [Number(line)] : []));
  if (lines.length === 0) return done('No recipient was chosen.', '/doubt', true);
  if (form.get('sure') !== 'yes') {
    return { question: doubtQuestionPage(view, { run, as: verdict, line: lines, messageId, note }) };
  }
  const { resolved } = await resolveDoubts(run, {
    ...optionsOf(site),
    verdict,
    lines,
    by: userHere(),
    ...(messageId && { messageId }),
    ...(note && { note }),
    confirm: true,
  });
  return done(`${countOf(resolved.length, 'recipient')} recorded as ${verdict}.`, '/doubt');
}

async function pause(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const [environment, campaign, what] = [textIn(form, 'environment'), textIn(form, 'campaign'), form.get('do')];
  const scope = { environment, campaign: campaign || null };
  if (what === 'ask-pause') return { question: pauseQuestionPage(view, scope) };
  if (what === 'ask-resume') return { question: resumeQuestionPage(view, scope) };
  const options = { ...optionsOf(site), environment, ...(campaign && { campaign }), by: userHere() };
  if (what === 'resume') {
    const { ended } = await resumeSending(options);
    return done(`${pausedScope(scope)} ${ended === null ? 'was not paused' : 'is resumed'}.`, '/');
  }
  const { isNew } = await pauseSending({ ...options, reason: textIn(form, 'reason') });
  return done(`${pausedScope(scope)} ${isNew ? 'is paused' : 'was paused before'}.`, '/');
}

async function review(site: Site, view: View, form: URLSearchParams): Promise<Done> {
  const as = form.get('as');
  const ids = form.getAll('id').map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
  const back = textIn(form, 'back');
  const to = /^\/replies(?:\?[!-~]*)?$/.test(back) ? back : '/replies';
  if ((as !== 'opt-out' && as !== 'opt-in' && as !== 'answer') || ids.length === 0 || ids.includes(0)) {
    return done('The meaning of the reply is missing.', to, true);
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
  const [who, topic, what] = [textIn(form, 'address'), textIn(form, 'topic'), form.get('do')];
  const to = '/suppressions';
  if (who === '') return done('No recipient is named.', to, true);
  const options = { ...optionsOf(site), ...(topic && { topic }) };
  if (what === 'ask-add') return { question: additionQuestionPage(view, who) };
  if (what === 'add') {
    const [reason, until] = [textIn(form, 'reason'), textIn(form, 'until')];
    const facts = { ...options, ...(reason && { reason }), ...(until && { until }) };
    const { added } = await addSuppressions([who], facts);
    return done(added === 1 ? `${who} is suppressed.` : `${who} was suppressed before.`, to);
  }
  if (what === 'remove') {
    const { removed, dismissed } = await removeSuppressions([who], options);
    if (dismissed === 1) return done(`The permanent failures of ${who} no longer count.`, to);
    return done(removed === 1 ? `${who} is off the list.` : `${who} was not on the list.`, to);
  }
  return { question: removalQuestionPage(view, who, topic || null) };
}

/** Empty: not given. */
function textIn(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

function done(text: string, to: string, isBad = false): Done {
  return { notice: { text, isBad }, to };
}

const PLAIN_PAGE = { colour: { out: false, err: false }, width: 80 };

/** The page of `handbill report --format html`. Other requests are answered while it goes through the list. */
export async function* reportOf(site: Site, run: RunRecord): AsyncGenerator<string> {
  // Through another connection, because it holds one moment: other pages show updates meanwhile.
  using ledger = ledgerHere(site.reading, site.context);
  const summary = await openSummary(ledger, run, { ...site.context, ...PLAIN_PAGE }, site.reading.project);
  yield* runPage(ledger, run, { nowMs: site.context.now(), turn: createYields() }, summary);
}

/** The records of `handbill report --format csv` for the recipients that filters choose; ignores a search. */
export async function* csvOf(site: Site, run: RunRecord, query: URLSearchParams): AsyncGenerator<string> {
  using ledger = ledgerHere(site.reading, site.context);
  const { plain, options } = await openSummary(ledger, run, { ...site.context, ...PLAIN_PAGE }, site.reading.project);
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
  async function* toTheEnd(): AsyncGenerator<string> {
    try {
      yield* previewHtml(dry);
    } finally {
      dry.close();
    }
  }
  return toTheEnd();
}
