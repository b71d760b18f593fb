import { createHash } from 'node:crypto';
import { CODES, type Code } from '../../errors.ts';
import { countOf, number } from '../../report/words.ts';
import { jsonText, safe } from '../../util/escape.ts';
import { type Finding, findingsOf, MOST_FINDINGS, placeOf, type ValidationDocument } from './findings.ts';

/**
 * One run of SARIF 2.1.0 (OASIS, 2020). It is a whole document also where nothing was found: that is what closes the
 * alerts of an earlier one. Holds no time, no path of the machine and no line of a list, so that the same files always
 * make the same document.
 */
export function formatSarif(document: ValidationDocument): string {
  const findings = findingsOf(document.kinds, MOST_FINDINGS);
  const shown = findings.reduce((sum, { count }) => sum + count, 0);
  const hidden = document.validation.total - shown;
  const run = {
    tool: { driver: { name: 'handbill', semanticVersion: document.version, rules: RULES } },
    columnKind: 'utf16CodeUnits',
    // Without an address: the reader of the document knows where the repository is.
    originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository.' } } },
    invocations: [{ executionSuccessful: true, ...notices(hidden, findings.length) }],
    results: resultsOf(findings, document),
  };
  return `${jsonText({ $schema: SCHEMA, version: '2.1.0', runs: [run] }, 2)}\n`;
}

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const ROOT = '%SRCROOT%';

const NAMES = Object.keys(CODES) as readonly Code[];

/** Every code, so that a rule is explained also where the alert is closed. */
const RULES = NAMES.map((id) => {
  const text = plain(CODES[id]);
  return { id, shortDescription: { text }, fullDescription: { text }, help: { text } };
});

const INDEX: ReadonlyMap<Code, number> = new Map(NAMES.map((code, index) => [code, index]));

function notices(hidden: number, shown: number): object {
  if (hidden <= 0) return {};
  const text =
    `${countOf(shown, 'result')}; ${number(hidden)} more of the same kinds or beyond ${number(MOST_FINDINGS)} left out. ` +
    '`handbill validate --format json` has all.';
  return { toolExecutionNotifications: [{ level: 'warning', message: { text: plain(text) } }] };
}

function resultsOf(findings: readonly Finding[], document: ValidationDocument): readonly object[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const { diagnostic } = finding;
    const { path, line, column, length, shown } = placeOf(diagnostic, document.pathOf);
    // GitHub refuses a document if a result has no place. A finding without a file in the repository is shown at the
    // campaign, or where a project file would be.
    const campaign = finding.campaign === null ? null : document.pathOf(finding.campaign);
    const file = path ?? campaign ?? 'handbill.yaml';
    const identity = fingerprint(diagnostic.code, file, diagnostic.message);
    const nth = (seen.get(identity) ?? 0) + 1;
    seen.set(identity, nth);
    const text = path === null && shown !== '' ? `${shown}: ${finding.message}` : finding.message;
    return {
      ruleId: diagnostic.code,
      ruleIndex: INDEX.get(diagnostic.code),
      level: diagnostic.severity,
      message: { text: plain(diagnostic.hint === undefined ? text : `${text}\n${diagnostic.hint}`) },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: uriOf(file), uriBaseId: ROOT },
            region: {
              startLine: line ?? 1,
              ...(column === null ? {} : { startColumn: column }),
              ...(column === null || length === null ? {} : { endColumn: column + length }),
            },
          },
        },
      ],
      partialFingerprints: { [FINGERPRINT]: `${identity}:${nth}` },
    };
  });
}

// Not `primaryLocationLineHash`: the action that uploads computes that one from the line itself, and complains of each
// that is not as it computed.
const FINGERPRINT = 'handbill/v1';

/**
 * What stays the same while lines move: code, file and message. Not the line of the file: it can hold a phone number,
 * and the hash of one is soon guessed. In the message it is masked.
 */
function fingerprint(code: Code, file: string, message: string): string {
  const words = message.replace(/\b(lines?|rows?) [\d,]+/g, '$1 #');
  return createHash('sha256').update([code, file, words].join('\0')).digest('hex').slice(0, 32);
}

/** A relative reference of RFC 3986: everything in a name that could be read as something else is encoded. */
function uriOf(path: string): string {
  return path
    .split('/')
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .join('/');
}

/** Text of a message: nothing that a terminal or a page would obey, and no link (3.11.6), which only brackets make. */
function plain(text: string): string {
  return safe(text).replaceAll('](', '] (');
}
