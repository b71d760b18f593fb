/** One series of a metrics file, with its value. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Reads the text format that Prometheus and node_exporter read, strictly
 * (https://prometheus.io/docs/instrumenting/exposition_formats/): each metric in one piece, after its help and its type;
 * no series twice; only the escapes that there are; a newline at the end. Throws with the line that is wrong.
 */
export function readMetrics(text: string): readonly Series[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const found: Series[] = [];
  const seen = new Set<string>();
  const finished = new Set<string>();
  let [helped, typed] = ['', ''];
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (finished.has(name)) fail('a metric in two pieces');
      finished.add(name);
      if (/\\[^\\n]/.test(rest)) fail('an escape that there is not');
      helped = name;
    } else if (keyword === 'TYPE') {
      if (helped !== name || !/^(gauge|counter)$/.test(rest)) fail('a type without its help');
      typed = name;
    } else {
      const one = readSeries(line) ?? fail('no series');
      if (one.name !== typed) fail('a series without its type');
      const key = JSON.stringify([one.name, Object.entries(one.labels).sort()]);
      if (seen.has(key)) fail('a series twice');
      seen.add(key);
      found.push(one);
    }
  }
  return found;
}

function readSeries(line: string): Series | null {
  const [, name = '', inside = '', value = ''] = /^([a-z_]+)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/s.exec(line) ?? [];
  if (name === '') return null;
  const labels: Record<string, string> = {};
  let rest = inside;
  while (rest !== '') {
    const match = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/s.exec(rest);
    const [whole, label = '', written = ''] = match ?? [];
    if (whole === undefined || label in labels) return null;
    labels[label] = written.replace(/\\(.)/g, (_all, sign: string) => (sign === 'n' ? '\n' : sign));
    rest = rest.slice(whole.length);
  }
  return Number.isNaN(Number(value)) ? null : { name, labels, value: Number(value) };
}

/** The value of a series, by its name and some of its labels; undefined where there is none. */
export function figureOf(
  all: readonly Series[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return all.find((one) => one.name === name && Object.entries(labels).every(([key, v]) => one.labels[key] === v))
    ?.value;
}
