import { EXIT } from '../../errors.ts';
import type { SuppressionAnswer, SuppressionEntry } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { lookAtSuppressions, type SuppressionCheck } from '../../operations/suppress-list.ts';
import { failuresText } from '../../plan/unreachable.ts';
import { createFormats, type Formats } from '../../report/locale.ts';
import { number } from '../../report/words.ts';
import { diagnosticRecord } from '../../util/diagnostic-text.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { complain } from '../shared/complain.ts';

/** Exit status 2 where a campaign would be refused, or an address is invalid; not for a suppressed one. */
export async function checkAll(
  context: CommandContext,
  given: { readonly ledger?: string; readonly format: 'text' | 'json'; readonly quiet?: boolean },
  addresses: readonly string[],
): Promise<void> {
  const { out, err, exit, colour } = context;
  const { checked, total, timeZone } = await lookAtSuppressions({ ...given, addresses });
  if (given.format === 'json') await out(asJson(checked));
  else {
    for (const one of checked.answers) await out(answerText(one, createFormats(null, timeZone)));
    if (addresses.length === 0 && (given.quiet !== true || total > 0)) await out(asText(checked));
    complain({ err, colour }, checked.problems, { limit: 20, total });
  }
  exit(total > 0 ? EXIT.refused : EXIT.done);
}

/** The address is shown as it was given: who asks has it. */
function answerText(answer: SuppressionAnswer, formats: Formats): string {
  const { given, address, suppressed, entries, unreachable = [] } = answer;
  const also = address === null || address === given ? '' : ` (${safeLine(address)})`;
  const only = new Set(entries.flatMap(({ active, ...entry }) => (active ? onlyIn(entry) : [])));
  const verdict =
    suppressed === true ? 'suppressed' : suppressed === null ? 'unknown, see the problems' : 'not suppressed';
  const said = suppressed !== true && only.size > 0 ? `suppressed in ${[...only].join(', ')} only` : verdict;
  const failing = unreachable.map(
    ({ environment, failures, lastFailure }) =>
      `  unreachable in ${safeLine(environment)}: ${failuresText(failures, lastFailure)}`,
  );
  return [
    `${safeLine(given)}${also}: ${said}`,
    ...entries.map((one) => `  ${entryText(one, formats)}`),
    ...failing,
    '',
  ].join('\n');
}

/** The campaigns for which an entry counts, where it does not for all. */
function onlyIn({ campaigns, topic }: Pick<SuppressionEntry, 'campaigns' | 'topic'>): readonly string[] {
  if (topic === null) return campaigns ?? [];
  return [campaigns === null ? `the topic ${topic}` : `${campaigns.join(', ')} (the topic ${topic})`];
}

function entryText(entry: SuppressionEntry, { instant }: Formats): string {
  const { list, line, topic, hashed, reason, since, until, source, active } = entry;
  const end = until === null ? 'no end' : `${active ? 'until' : 'ended'} ${instant(until)}`;
  const facts = [
    ...(since === null ? [] : [`since ${instant(since)}`]),
    end,
    ...(topic === null ? [] : [`only for the topic ${topic}`]),
    ...(hashed ? ['as a hash'] : []),
    ...(reason === null ? [] : [`reason: ${safeLine(reason)}`]),
    ...(source === null ? [] : [`added by: ${safeLine(source)}`]),
  ];
  return `${safeLine(line === null ? list : `${list}:${line}`)}: ${facts.join(', ')}`;
}

/** Diagnostics as `validate --format json` has them; answers where there was a question. */
function asJson({ answers, ...checked }: SuppressionCheck): string {
  const asked = answers.length === 0 ? {} : { answers };
  const document = { version: 1, ...checked, problems: checked.problems.map(diagnosticRecord), ...asked };
  return `${jsonText(document, 2)}\n`;
}

function asText({ addresses, hashes, keyId, ownKeyId, files }: SuppressionCheck): string {
  const under = keyId === null ? '' : ` (key ${keyId})`;
  const lines = [
    `Ledger  ${number(addresses)} ${addresses === 1 ? 'address' : 'addresses'}, ${number(hashes)} ${hashes === 1 ? 'hash' : 'hashes'}${under}`,
    `Files   ${files.length === 0 ? 'none in handbill.yaml' : files.map(safeLine).join(', ')}`,
    `Key     ${ownKeyId === null ? 'not there' : `${ownKeyId}${keyId === null || keyId === ownKeyId ? '' : ', another one'}`}`,
  ];
  return `${lines.join('\n')}\n`;
}
