import { dirname } from 'node:path/posix';
import { figuresOf, type ValidatedFile } from '../../operations/validate.ts';
import { type JunitCase, type JunitSuite, junitText } from '../../report/format-junit.ts';
import { countOf, number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { findingsOf, type Kind, MOST_FINDINGS, placeOf, type ValidationDocument } from './findings.ts';

/** Places of one kind that are named; the rest is counted. */
const NAMED = 20;

/**
 * A suite for each campaign, in it a failure for each kind of error in each file, or one test that passed. A test is
 * named by code and file, never by line, so that a CI system knows it again. Warnings fail nothing: they are the
 * output of the suite.
 */
export function formatJunit(document: ValidationDocument): string {
  const { kinds, validation } = document;
  const before = kinds.filter(({ campaign }) => campaign === null);
  const suites = validation.files.map((file) =>
    campaignSuite(
      file,
      kinds.filter(({ campaign }) => campaign === file.file),
      document,
    ),
  );
  const general = before.length === 0 ? [] : [suiteOf('handbill', before, {}, [], document)];
  return junitText('handbill validate', [...general, ...suites]);
}

function campaignSuite(file: ValidatedFile, kinds: readonly Kind[], document: ValidationDocument): JunitSuite {
  const path = document.pathOf(file.file) ?? file.file;
  const figures = file.estimate === null ? '' : figuresOf(file.estimate);
  const passed: JunitCase = {
    name: 'no errors',
    className: classOf(path),
    result: 'passed',
    details: figures,
    file: path,
  };
  const properties = { errors: file.errors, warnings: file.warnings };
  const own =
    file.errors === 0 ? [passed] : kinds.some(({ severity }) => severity === 'error') ? [] : [elsewhere(file, path)];
  return suiteOf(path, kinds, properties, own, document);
}

/** A campaign whose only errors are those of its project must not look as if it had passed. */
function elsewhere({ errors }: ValidatedFile, path: string): JunitCase {
  return {
    name: 'errors of the project',
    className: classOf(path),
    result: 'failure',
    type: 'project',
    message: `${countOf(errors, 'error')} of the project, listed with the first campaign that has ${errors === 1 ? 'it' : 'them'}.`,
    details: '',
    file: path,
  };
}

function suiteOf(
  name: string,
  kinds: readonly Kind[],
  properties: JunitSuite['properties'],
  passed: readonly JunitCase[],
  document: ValidationDocument,
): JunitSuite {
  const failed = kinds.filter(({ severity }) => severity === 'error').map((kind) => failure(name, kind, document));
  const warnings = kinds.filter(({ severity }) => severity === 'warning');
  const output = findingsOf(warnings, MOST_FINDINGS)
    .filter(({ rank }) => rank < NAMED)
    .map(
      ({ diagnostic, message }) =>
        `warning[${diagnostic.code}]: ${placed(placeOf(diagnostic, document.pathOf).shown, message)}\n`,
    );
  return { name, properties, cases: [...passed, ...failed], output: output.join('') };
}

function failure(suite: string, { code, kept, count }: Kind, document: ValidationDocument): JunitCase {
  const places = kept.map((diagnostic) => ({ ...diagnostic, ...placeOf(diagnostic, document.pathOf) }));
  const first = places[0];
  const file = first?.path ?? null;
  const more = count === 1 ? '' : ` (and ${number(count - 1)} more)`;
  const lines = places
    .slice(0, NAMED)
    .flatMap(({ shown, message, hint }) => [
      placed(shown, message),
      ...(hint === undefined ? [] : [`  help: ${hint}`]),
    ]);
  const rest = count > NAMED ? [`${number(count - NAMED)} more not listed.`] : [];
  return {
    name: file === null ? code : `${code} in ${file}`,
    className: classOf(suite),
    result: 'failure',
    type: code,
    message: `${first?.message ?? ''}${more}`,
    details: `\n${[...lines, ...rest].join('\n')}\n`,
    file,
    line: first?.line ?? null,
  };
}

function placed(shown: string, message: string): string {
  return shown === '' ? message : `${shown}: ${message}`;
}

/** The folder of the campaign. Dots would be read as the ends of packages. */
function classOf(path: string): string {
  const folder = dirname(path);
  return safeLine(folder === '.' ? path : folder).replaceAll('.', '_');
}
