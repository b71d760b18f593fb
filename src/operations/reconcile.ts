import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ProjectReading } from '../campaign/project.ts';
import { type Diagnostic, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { copyLedger, openLedger } from '../ledger/open.ts';
import { paced } from '../ledger/paced.ts';
import type { Recorded } from '../ledger/records.ts';
import type { ReconciliationFile as ReconciledFile, Reconciliation } from '../model/result-types.ts';
import type { ListEncoding, Project, WebhookEvent } from '../model.ts';
import { environmentOf } from '../plan/plan.ts';
import { createDecoding, DecodeFault, sniffEncoding } from '../recipients/decode.ts';
import { SEPARATOR } from '../recipients/header.ts';
import { ONLY_CELLS, openList } from '../recipients/read.ts';
import { sendCommand } from '../report/next-steps.ts';
import { countUnmatched, countUnreached, resolveByReports } from '../send/deliveries.ts';
import { makeTemporaryFolder, type TemporaryFolder, temporaryFault } from '../util/files.ts';
import { type JsonFault, jsonValues } from '../util/json.ts';
import type { Meter } from '../util/long-work.ts';
import { isTest } from '../util/occurrence-name.ts';
import { displayPath, findFileAnywhere } from '../util/paths.ts';
import type { Interpreter } from '../webhook/interpret.ts';
import { isForm } from '../webhook/interpret-body.ts';
import { meaningOf } from '../webhook/meaning.ts';
import { type ProjectOptions, type ResolvedOptions, withDefaults } from './options.ts';
import { addressTest, countryOf, environmentFor, interpreterOf, joinReplies, projectHere } from './project.ts';
import { nameOfRun, PLAN_FILE, sentCampaign, takesPlans } from './report.ts';
import { unassignedOptOut } from './warnings.ts';

/** In the place of a file: the API of the environment. A file of this name is `./api`. */
export const API = 'api';

/** Environment and input of an import, and whether it is a dry run. */
export interface ReconcileOptions extends ProjectOptions {
  /** Ends a fetch between two requests. Default: no signal. */
  readonly signal?: AbortSignal;
  /** Does everything on a copy of the ledger, which is removed. Default: false. */
  readonly dryRun?: boolean;
  /** The environment that the reports and replies are of. Default: the only one beside the sandbox. */
  readonly environment?: string;
  /** The content of a file `-`: bytes, such as a stream. Default: nothing; `-` is an empty file. */
  readonly input?: AsyncIterable<Uint8Array>;
}

export type { ReconciledFile };

export interface TakenFiles extends Omit<Reconciliation, 'version' | 'diagnostics'> {
  readonly diagnostics: readonly Diagnostic[];
}

/** A run that has fallbacks to send: sending it again does. */
export type DueFallbacks = Omit<Reconciliation['fallbacksDue'][number], 'command'>;

/** With `dryRun`, what an import would do. */
export interface ReconcileResult extends Omit<Reconciliation, 'version' | 'diagnostics' | 'fallbacksDue'> {
  readonly diagnostics: readonly Diagnostic[];
  readonly fallbacksDue: readonly DueFallbacks[];
}

/** In one transaction of some 40 ms, for which other processes wait. */
const GROUP_EVENTS = 3_000;
/** For one file: users would not read more. */
const MOST_DIAGNOSTICS = 100;

/**
 * `handbill listen --from`: imports exported delivery reports and replies, as `listen` would. A repeated import changes
 * nothing, and finishes one that was interrupted.
 *
 * @param files - paths relative to `cwd`, `-` for `input`, or `api` for what the API of the environment has
 * @throws HandbillError exit 2 for a file of which nothing can be read or understood; 7 (ledger)
 */
export async function reconcile(files: readonly string[], options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const { fallbacksDue, ...result } = await takeFiles(files, options);
  return { ...result, fallbacksDue: fallbacksDue.map(({ command: _, ...run }) => run) };
}

/** As `reconcile`; `meter` is called with how far the current file was read. */
export async function takeFiles(files: readonly string[], given: ReconcileOptions & { readonly meter?: Meter }) {
  const options = withDefaults(given);
  const { now, dryRun = false, cwd } = options;
  const reading = projectHere(options);
  const environment = environmentFor(reading, options.environment);
  if (dryRun && files.includes(API)) {
    const hint = 'Leave --dry-run out: what is fetched sends nothing.';
    throw refuse(problem('usage', 'A dry run asks no API: some give each event only once.', { hint }));
  }
  const found = findFiles(
    files.filter((file) => file !== API),
    cwd,
  );
  const needsFolder = dryRun || found.some(({ path }) => path === null);
  const folder = needsFolder ? await makeTemporaryFolder('handbill-reconcile-') : null;
  try {
    const inputs = await spooled(found, folder, Readable.from(options.input ?? []));
    const { ledger: place } = reading.project;
    const copy = dryRun && folder !== null ? join(folder.root, 'ledger.db') : null;
    if (copy !== null) copyLedger(place, copy, now());
    using ledger = openLedger(copy ?? place, { mode: 'write', nowMs: now(), isCopy: copy !== null });
    return await takeOver(inputs, ledger, reading, { ...options, environment, fetches: files.includes(API) });
  } finally {
    await folder?.remove();
  }
}

function findFiles(written: readonly string[], cwd: string) {
  const found: { readonly path: string | null; readonly name: string }[] = [];
  const faults: Diagnostic[] = [];
  for (const file of written) {
    if (file === '-') {
      if (found.some(({ path }) => path === null)) faults.push(problem('usage', 'Standard input can be read once.'));
      found.push({ path: null, name: 'standard input' });
      continue;
    }
    const at = findFileAnywhere(cwd, file);
    if ('path' in at) found.push({ path: at.path, name: displayPath(at.path, cwd) });
    else {
      const { code, message, hint } = at.fault;
      faults.push(problem(code, message, { hint }));
    }
  }
  if (faults.length > 0) throw refuse(...faults);
  return found;
}

/** Standard input as a file: its beginning decides which form it has. */
async function spooled(found: Awaited<ReturnType<typeof findFiles>>, folder: TemporaryFolder | null, input: Readable) {
  const files: EventFile[] = [];
  for (const { path, name } of found) {
    const place = path ?? join(folder?.root ?? '', 'input');
    if (path === null) {
      await pipeline(input, createWriteStream(place, { flags: 'wx', mode: 0o600 })).catch((error: unknown) => {
        throw temporaryFault(error, folder?.root ?? '');
      });
    }
    files.push({ path: place, name });
  }
  return files;
}

interface Taking extends ResolvedOptions, Pick<ReconcileOptions, 'dryRun' | 'signal'> {
  readonly meter?: Meter;
  readonly environment: string;
  /** The API is asked too. */
  readonly fetches: boolean;
}

async function takeOver(
  files: readonly EventFile[],
  ledger: Ledger,
  reading: ProjectReading,
  { cwd, env, now, signal, dryRun = false, environment, meter, fetches }: Taking,
): Promise<TakenFiles> {
  const { project } = reading;
  const { startLifts, stopEnds } = project.webhook.replies;
  const interpreter = interpreterOf(reading, environment, { maxEvents: MAX_VALUE_EVENTS });
  const suppressed: string[] = [];
  const lifted: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const done: ReconciledFile[] = [];
  const last = ledger.events.lastReport();
  ledger.events.expectMany();
  const isAddress = addressTest(reading);
  const unassigned: Unassigned[] = [];
  const recorder = async (events: readonly WebhookEvent[], source: string, page?: number): Promise<Recorded> => {
    const facts = { source, environment, startLifts, stopEnds, isAddress, ...(page === undefined ? {} : { page }) };
    const recorded = await paced(() => ledger.events.record(events, { nowMs: now(), ...facts }));
    for (const address of recorded.suppressed) suppressed.push(address);
    for (const address of recorded.lifted) lifted.push(address);
    return recorded;
  };
  const noteOptOut = (event: WebhookEvent, at: Unassigned['at']): void => {
    const sender = optOutFrom(event, (text) => meaningOf(text, project.webhook.replies) === 'opt-out');
    if (sender !== null && !isAddress(sender.from)) unassigned.push({ ...sender, at });
  };
  if (fetches) {
    const file = `API of ${environment}`;
    const counts = { ...NO_EVENTS };
    const context = { env, signal, ledger, reading, environment: environmentOf(reading, environment), now };
    const { fetchReports } = await import('./fetch-reports.ts');
    const found = await fetchReports(context, async (events, source, page) => {
      const recorded = await recorder(events, source, page);
      // A page that is only kept is no event yet.
      if (page !== undefined) for (const name of COUNTS) counts[name] += recorded[name];
      for (const event of events) if (page !== undefined) noteOptOut(event, { file });
      return recorded;
    });
    const events = COUNTS.reduce((sum, name) => sum + counts[name], 0);
    done.push({ file, ...counts, events });
    diagnostics.push(...found);
  }
  for (const file of files) {
    const { diagnostics: found, ...counts } = await takeOverFile(
      { ...file, meter },
      interpreter,
      recorder,
      now(),
      (event, line) => noteOptOut(event, { file: file.name, line }),
    );
    done.push(counts);
    diagnostics.push(...found);
  }
  const sum = (what: 'reports' | 'replies') => done.reduce((total, file) => total + file[what], 0);
  const doubtsResolved = sum('reports') > 0 ? resolveByReports(ledger, now()) : 0;
  const unmatched = sum('reports') > 0 ? countUnmatched(ledger, { last, count: sum('reports') }) : 0;
  const joined =
    sum('replies') > 0 ? await joinReplies(ledger, { now, startLifts, stopEnds }) : { joined: 0, suppressed: [] };
  diagnostics.push(...stillUnassigned(unassigned, ledger, countryOf(reading)));
  return {
    dryRun,
    environment,
    ledger: project.ledger,
    files: done,
    unmatched,
    doubtsResolved,
    repliesJoined: joined.joined,
    suppressed: [...suppressed, ...joined.suppressed],
    lifted,
    fallbacksDue: await dueFallbacks(ledger, project, { cwd, nowMs: now() }),
    diagnostics,
  };
}

interface Unassigned {
  /** Empty: nothing says who wrote. */
  readonly from: string;
  /** Null: it was a report, or is no reply that can be held. */
  readonly replyId: string | null;
  readonly isReply: boolean;
  readonly at: { readonly file: string; readonly line?: number };
}

/** The sender of an opt-out; null: the event is none. An event without a sender is kept as one that is not understood. */
function optOutFrom(event: WebhookEvent, isStop: (text: string) => boolean): Omit<Unassigned, 'at'> | null {
  if (event.kind === 'reply') {
    const { from, replyId, meaning } = event;
    return meaning === 'opt-out' ? { from, replyId, isReply: true } : null;
  }
  if (event.kind === 'delivery') {
    const { address, cause } = event;
    return cause === 'opted-out' && address !== null ? { from: address, replyId: null, isReply: false } : null;
  }
  const isOne =
    event.optsOut === true ||
    [...event.body.matchAll(TEXTS)].some(([, text = '']) => isStop(String(JSON.parse(`"${text}"`))));
  return isOne ? { from: '', replyId: null, isReply: false } : null;
}

/** Texts of people, in an event that handbill does not understand. */
const TEXTS = /"[^"]*(?:text|body|message|content)"\s*:\s*"((?:[^"\\]|\\.){1,200})"/gi;

/** Warnings about opt-outs whose message was not found: they suppress no recipient. */
function stillUnassigned(all: readonly Unassigned[], ledger: Ledger, country: string | null) {
  if (all.length === 0) return [];
  const nameOf = (sender: string, replyId: string | null): string => JSON.stringify([sender, replyId]);
  const open = new Set(ledger.events.unjoinedOptOuts().map(({ sender, replyId }) => nameOf(sender, replyId)));
  const left = all.filter(({ from, replyId, isReply }) => !isReply || open.has(nameOf(from, replyId)));
  return left.slice(0, MOST_DIAGNOSTICS).map(({ from, at }) => unassignedOptOut(from, country, at));
}

async function takeOverFile(
  file: EventFile,
  interpreter: Interpreter,
  record: (events: readonly WebhookEvent[], source: string) => Promise<Recorded>,
  nowMs: number,
  onEvent: (event: WebhookEvent, line: number) => void,
): Promise<ReconciledFile & { readonly diagnostics: readonly Diagnostic[] }> {
  const counts = { reports: 0, replies: 0, unread: 0, known: 0 };
  const faults: Diagnostic[] = [];
  const unread = { count: 0, line: 0 };
  let isUnderstood = false;
  let faultCount = 0;
  let group: WebhookEvent[] = [];
  const flush = async (): Promise<void> => {
    if (group.length === 0) return;
    // A list of recipients, or another kind of export: nothing of it belongs into the ledger.
    if (!isUnderstood) throw nothingUnderstood(file, unread.line);
    const recorded = await record(group, file.name);
    for (const name of COUNTS) counts[name] += recorded[name];
    group = [];
  };
  for await (const pieces of readEvents(file, interpreter, nowMs)) {
    for (const piece of pieces) {
      if ('diagnostic' in piece) {
        faultCount += 1;
        if (faults.length < MOST_DIAGNOSTICS) faults.push(piece.diagnostic);
        continue;
      }
      for (const event of piece.events) {
        group.push(event);
        onEvent(event, piece.line);
        if (event.kind !== 'unread') isUnderstood = true;
        else if (unread.count++ === 0) unread.line = piece.line;
        if (group.length >= GROUP_EVENTS) await flush();
      }
    }
  }
  await flush();
  const { name } = file;
  const more = faultCount - faults.length;
  if (more > 0) faults.push(problem('invalid-reports', `${more} more places cannot be read.`, { at: { file: name } }));
  if (unread.count > 0) {
    const message =
      unread.count === 1
        ? 'This event is neither a delivery report nor a reply, as far as one can tell.'
        : `${unread.count} events are neither delivery reports nor replies, as far as one can tell. This is the first.`;
    faults.push(warning('unread-event', message, { at: { file: name, line: unread.line }, hint: HINT }));
  }
  return { file: name, events: COUNTS.reduce((sum, one) => sum + counts[one], 0), ...counts, diagnostics: faults };
}

const NO_EVENTS = { events: 0, reports: 0, replies: 0, unread: 0, known: 0 };
const COUNTS = ['reports', 'replies', 'unread', 'known'] as const;

const HINT =
  'handbill listen --explain FILE shows how an event is read, for a file with this one alone; `webhook.fields` of the environment in handbill.yaml maps what differs.';

function nothingUnderstood({ name }: EventFile, line: number): Error {
  const message = `Nothing in ${name} is a delivery report or a reply, as far as one can tell. Nothing of it was taken over.`;
  return refuse(problem('unread-event', message, { at: { file: name, line }, hint: HINT }));
}

/** Reports come within days; older runs would only be continued with `--allow too-late`. */
const RECENT_MS = 7 * 24 * 3_600_000;

/** The runs of the last week whose fallbacks wait, oldest first. For each run with a fallback this scans the list. */
async function dueFallbacks(
  ledger: Ledger,
  project: Project,
  { cwd, nowMs }: { readonly cwd: string; readonly nowMs: number },
): Promise<TakenFiles['fallbacksDue']> {
  if (!ledger.events.hasUnreached()) return [];
  const due: TakenFiles['fallbacksDue'][number][] = [];
  for (const run of ledger.runs()) {
    const { purgedAtMs } = run;
    if (isTest(run.occurrence) || purgedAtMs !== null || (run.lastStartAtMs ?? 0) < nowMs - RECENT_MS) continue;
    const { campaign, named } = await sentCampaign(run, project, { cwd });
    const recipients = campaign === null ? 0 : countUnreached(ledger, run, campaign, nowMs);
    if (recipients === 0) continue;
    const command = sendCommand(run, await named(), takesPlans(run, project) ? PLAN_FILE : null);
    due.push({ ...nameOfRun(run), recipients, command });
  }
  return due;
}

interface EventFile {
  readonly path: string;
  /** As the user names it. */
  readonly name: string;
  readonly meter?: Meter | undefined;
}

/** The line is where the value or the row begins. */
type ReadPiece =
  | { readonly events: readonly WebhookEvent[]; readonly line: number }
  | { readonly diagnostic: Diagnostic };

/** Longest JSON value, in UTF-16 units: a body that wraps its events as a whole. */
const MAX_VALUE = 16 * 1024 * 1024;
const MAX_VALUE_EVENTS = 200_000;
const PIECE_BYTES = 64 * 1024;

/**
 * Reads JSON in any form (`util/json.ts`), forms as senders post them, one a line, or CSV whose columns are named as the
 * fields of events; memory stays flat. Yields errors as diagnostics, and reads on. Throws exit 2 if the header or the
 * form of a CSV file makes it unreadable.
 */
export async function* readEvents(file: EventFile, interpreter: Interpreter, nowMs: number) {
  const start = await startOf(file.path);
  // May be cut off. `sep=;` is the first line of a CSV for a spreadsheet.
  const line = (start.split('\n', 1)[0] ?? '').trim();
  if (/^[[{]/.test(start)) yield* readJson(file, interpreter, nowMs);
  else if (isForm(line) && !SEPARATOR.test(line)) yield* readForms(file, interpreter, nowMs);
  else yield* readCsv(file, interpreter, nowMs);
}

/** The beginning of the text behind blanks, in any encoding. */
async function startOf(path: string): Promise<string> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const { encoding } = sniffEncoding(bytes, null);
    return new TextDecoder(encoding).decode(bytes).replace(/^[\ufeff\s\0]+/, '');
  } finally {
    await handle.close();
  }
}

/** Bodies that were captured, one a line, each read as if it had been posted. */
async function* readForms(file: EventFile, interpreter: Interpreter, nowMs: number) {
  for await (const lines of linesOf(file)) {
    yield lines.map(({ bytes, line }): ReadPiece => {
      if (bytes === null) return { diagnostic: faultAt(file, line, FAULTS['too-large']) };
      const { events, problems } = interpreter.interpret(bytes, nowMs);
      const [wrong] = problems;
      if (wrong === undefined) return { events, line };
      return { diagnostic: faultAt(file, line, wrong.message.replace('The body', 'The line')) };
    });
  }
}

interface CapturedLine {
  /** Null: longer than is read. */
  readonly bytes: Buffer | null;
  readonly line: number;
}

/** Lines that are not blank. Only UTF-16 is decoded: the bytes of a body say whether they are UTF-8. */
async function* linesOf(file: EventFile): AsyncGenerator<readonly CapturedLine[]> {
  let wide: InstanceType<typeof TextDecoder> | null = null;
  let line = 1;
  let held = '';
  let isTooLarge = false;
  const hold = (text: string): void => {
    isTooLarge ||= held.length + text.length > MAX_VALUE;
    held = isTooLarge ? '' : held + text;
  };
  const ended = (): CapturedLine[] => {
    const isBlank = !isTooLarge && held.trim() === '';
    const bytes = isTooLarge ? null : Buffer.from(held, wide === null ? 'latin1' : 'utf8');
    const found = isBlank ? [] : [{ bytes, line }];
    [held, isTooLarge, line] = ['', false, line + 1];
    return found;
  };
  for await (const { bytes, encoding } of piecesOf(file)) {
    if (encoding !== 'utf-8') wide ??= new TextDecoder(encoding);
    const [first = '', ...others] = (wide?.decode(bytes, { stream: true }) ?? bytes.toString('latin1')).split('\n');
    const lines: CapturedLine[] = [];
    hold(first);
    for (const text of others) {
      lines.push(...ended());
      hold(text);
    }
    yield lines;
  }
  yield ended();
}

async function* readJson(file: EventFile, interpreter: Interpreter, nowMs: number) {
  const at = { line: 1 };
  try {
    for await (const values of jsonValues(textOf(file, at), MAX_VALUE)) {
      yield values.map((value): ReadPiece => {
        if ('fault' in value) return { diagnostic: faultAt(file, value.line, FAULTS[value.fault]) };
        const { events, problems } = interpreter.interpret(Buffer.from(value.text), nowMs);
        const [wrong] = problems;
        // Anything else could be taken for a form, as senders post them.
        if (wrong === undefined && (value.text.startsWith('{') || value.text.startsWith('[')))
          return { events, line: value.line };
        return {
          diagnostic: faultAt(
            file,
            value.line,
            wrong === undefined
              ? NO_OBJECT
              : wrong.kind === 'not-readable'
                ? 'This is no well-formed JSON.'
                : wrong.message.replace('The body', 'The value'),
          ),
        };
      });
    }
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
    const message = error.kind === 'nul' ? 'There is a NUL character.' : 'There are bytes that are no text in UTF-8.';
    yield [{ diagnostic: faultAt(file, at.line + error.before.split('\n').length - 1, message) }];
  }
}

const NO_OBJECT = 'This is no JSON object.';

const FAULTS: Readonly<Record<JsonFault, string>> = {
  unfinished: 'The file ends in the middle of what begins here.',
  'too-large': 'The value that begins here is larger than 16 MiB. Write each event on a separate line.',
  stray: 'Here is a closing bracket too many. Nothing after it was read.',
};

/** Counts the lines of what has been handed out. */
async function* textOf(file: EventFile, at: { line: number }): AsyncGenerator<string> {
  let decoding: ReturnType<typeof createDecoding> | null = null;
  const seen = (text: string): string => {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) at.line += 1;
    return text;
  };
  for await (const { bytes, encoding } of piecesOf(file)) {
    decoding ??= createDecoding(encoding);
    yield seen(decoding.push(bytes));
  }
  if (decoding !== null) yield seen(decoding.end());
}

/** A file in pieces, without its byte order mark. */
async function* piecesOf({ path, meter }: EventFile) {
  if (meter !== undefined) Object.assign(meter, { done: 0, total: (await stat(path)).size });
  let encoding: ListEncoding | null = null;
  for await (const chunk of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    const bytes = chunk as Buffer;
    if (meter !== undefined) meter.done += bytes.length;
    let skip = 0;
    if (encoding === null) ({ encoding, skip } = sniffEncoding(bytes, null));
    yield { bytes: bytes.subarray(skip), encoding };
  }
}

async function* readCsv(file: EventFile, interpreter: Interpreter, nowMs: number) {
  const spec = { ...ONLY_CELLS, path: file.path, file: file.name };
  const list = await openList(spec, { meter: file.meter }).catch(rethrown);
  const documentOf = documentMaker(list.columns);
  let isEmpty = true;
  try {
    for await (const rows of list.rows()) {
      isEmpty &&= rows.length === 0;
      yield rows.map(({ line, values, fault }): ReadPiece => {
        if (values === null) return { diagnostic: faultAt(file, line, fault ?? 'The row cannot be read.') };
        return { events: interpreter.interpretDocument(documentOf(values), nowMs).events, line };
      });
    }
  } catch (error) {
    rethrown(error);
  } finally {
    await list.close();
  }
  // One line of something else, such as an event without a header: it would be lost without a word.
  const isHeader = (): boolean =>
    SAMPLES.some((value) => {
      const row = documentOf(list.columns.map(() => value));
      return interpreter.interpretDocument(row, nowMs).events.some(({ kind }) => kind !== 'unread');
    });
  if (isEmpty && !isHeader()) throw nothingUnderstood(file, 1);
}

/** Values that make a report or a reply of a row, under columns that can: a state, and one that says nothing. */
const SAMPLES = ['delivered', '1'];

const FORMS =
  'Events are JSON, forms as a webhook gets them (one a line), or CSV whose first row names columns such as messageId,status,timestamp,error.';

/** The words of the reader of recipients name lists, and settings that this file does not have. */
function rethrown(error: unknown): never {
  if (!(error instanceof HandbillError)) throw error;
  const diagnostics = error.diagnostics.map(({ hint, ...rest }) => {
    if (rest.code === 'csv-no-header') return { ...rest, message: 'There is nothing in it.', hint: FORMS };
    const isOurs = hint === undefined || hint.includes('`recipients.');
    return isOurs ? rest : { ...rest, hint };
  });
  throw new HandbillError(error.exit, diagnostics, error.total);
}

/** As JSON: `error.code` is `code` in `error`; empty cells are absent. Letter case, spaces and signs do not count. */
function documentMaker(columns: readonly string[]): (values: readonly string[]) => object {
  const places = columns.map((name) => {
    const names = name.split('.').map((part) => part.trim());
    const isPath = names.length > 1 && names.length <= MAX_NAMES && names.every((part) => part !== '');
    // Where another column has the name of the whole, the parts have no place in it.
    return isPath && !columns.includes(names[0] ?? '') ? names : [name];
  });
  return (values) => {
    const document = emptyObject();
    for (const [i, names] of places.entries()) {
      const value = values[i] ?? '';
      if (value === '') continue;
      let at = document;
      for (const name of names.slice(0, -1)) {
        const inner = at[name];
        at[name] = typeof inner === 'object' && inner !== null ? inner : emptyObject();
        at = at[name] as Record<string, unknown>;
      }
      at[names.at(-1) ?? ''] = value;
    }
    return document;
  };
}

const MAX_NAMES = 8;

function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function faultAt({ name }: EventFile, line: number, message: string): Diagnostic {
  const hint =
    'What was read of the file is taken over. Correct the rest and give it again: what is known already changes nothing.';
  return problem('invalid-reports', message, { at: { file: name, line }, hint });
}
