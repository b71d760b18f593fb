/** Records in the order of the file: the text of each, without its line end, and the line on which it begins. */
export interface Records {
  readonly texts: readonly string[];
  readonly lines: readonly number[];
}

export interface Splitter {
  /** Records that are complete with this text. */
  push(text: string): Records;
  /** The last record, when the file ends without a line end. */
  end(): Records;
  /** What has been pushed and is not a complete record yet, and the line on which it begins. */
  rest(): { readonly text: string; readonly line: number };
}

/**
 * Cuts text into CSV records and counts lines. A line ends with LF, CR LF or CR, also where a file mixes them. A line
 * end inside quotes belongs to the value, and stays as it is; in well-formed CSV it is inside exactly when the number of
 * quotes since the record's start is odd. Ill-formed text is cut somewhere, and parsing the record finds the fault in
 * it. Empty lines are skipped, and counted.
 */
export function createSplitter(): Splitter {
  let pending = '';
  // What comes before this place in the pending record has been looked at, however many pieces it comes in.
  let scanned = 0;
  let line = 1;
  let inside = false;
  let breaks = 1;

  function push(text: string): Records {
    const all = pending + text;
    const texts: string[] = [];
    const lines: number[] = [];
    let start = 0;
    let quote = all.indexOf('"', scanned);
    let feed = all.indexOf('\n', scanned);
    let back = all.indexOf('\r', scanned);
    scanned = all.length;
    while (feed !== -1 || back !== -1) {
      const end = back === -1 || (feed !== -1 && feed < back) ? feed : back;
      // A CR at the end of a piece may be half of a CR LF: it waits for the next piece.
      if (end === back && end === all.length - 1) {
        scanned = end;
        break;
      }
      const next = end + (end === back && feed === end + 1 ? 2 : 1);
      if (feed !== -1 && feed < next) feed = all.indexOf('\n', next);
      if (back !== -1 && back < next) back = all.indexOf('\r', next);
      for (; quote !== -1 && quote < end; quote = all.indexOf('"', quote + 1)) inside = !inside;
      if (inside) {
        breaks++;
        continue;
      }
      if (end > start) {
        texts.push(all.slice(start, end));
        lines.push(line);
      }
      line += breaks;
      breaks = 1;
      start = next;
    }
    for (; quote !== -1; quote = all.indexOf('"', quote + 1)) inside = !inside;
    pending = all.slice(start);
    scanned -= start;
    return { texts, lines };
  }

  function end(): Records {
    const last = pending.endsWith('\r') && !inside ? pending.slice(0, -1) : pending;
    pending = '';
    scanned = 0;
    return last === '' ? { texts: [], lines: [] } : { texts: [last], lines: [line] };
  }

  return { push, end, rest: () => ({ text: pending, line }) };
}

/** Number of line ends, of whatever kind. */
export function countLines(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}
