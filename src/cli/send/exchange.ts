import type { ShownExchange, ShownMessage } from '../../http/explain.ts';
import { stateAnswer } from '../../operations/send-test.ts';
import { safe } from '../../util/escape.ts';
import { parseJson } from '../../util/json.ts';

/** A request after `>`, its answer after `<`, as curl writes them; then how handbill read it. */
export function exchangeText({ request, answer, readings }: ShownExchange): string {
  const lines = [
    ...(request === null ? [] : marked('>', `${request.method} ${request.url}`, request)),
    ...(answer === null ? [] : marked('<', String(answer.status), answer)),
    ...readings.map(stateAnswer),
  ];
  return `${lines.join('\n')}\n\n`;
}

function marked(mark: string, head: string, { headers, body }: ShownMessage): readonly string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  // Fields as the receiver reads them: a `+` that was not encoded shows as a space.
  const fields = isForm ? [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`) : [indented(body)];
  const all = [head, ...lines, ...(body === '' ? [] : ['', ...fields])].join('\n');
  const rest = all.length - MOST_CHARACTERS;
  const more = rest <= 0 ? '' : `\n... ${rest} more characters: --format json has all of them`;
  const shown = all.slice(0, MOST_CHARACTERS) + more;
  return shown.split('\n').map((line) => safe(`${mark} ${line}`.trimEnd()));
}

const MOST_CHARACTERS = 6000;

/** JSON in lines, with nothing else changed: numbers keep their digits, and keys their order. */
function indented(body: string): string {
  if (typeof parseJson(body) !== 'object') return body;
  let depth = 0;
  const line = (deeper: number): string => {
    depth += deeper;
    // An API may nest as deep as it likes.
    return `\n${'  '.repeat(Math.min(depth, 20))}`;
  };
  return body.replace(JSON_TOKEN, (token) => {
    if (token === '{' || token === '[') return token + line(1);
    if (token === '}' || token === ']') return line(-1) + token;
    return token === ',' ? token + line(0) : token === ':' ? ': ' : token.trim();
  });
}

/** A string, space, an empty mapping or list, or a sign. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|\s+|[{[]\s*[\]}]|[{}[\],:]/g;
