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
 * Cuts text with LF line ends into CSV records and counts lines. A line end inside quotes belongs to the record; in
 * well-formed CSV it is inside exactly when the number of quotes since the record's start is odd. Ill-formed text is
 * cut somewhere, and whoever parses the record finds the fault in it. Empty lines are skipped, and counted.
 */
export function createSplitter(): Splitter {
  let pending = '';
  let line = 1;
  // Of the pending record: it has been looked through once, however many pieces it comes in.
  let inside = false;
  let breaks = 1;

  function push(text: string): Records {
    const all = pending + text;
    const texts: string[] = [];
    const lines: number[] = [];
    let start = 0;
    let quote = all.indexOf('"', pending.length);
    for (let end = all.indexOf('\n', pending.length); end !== -1; end = all.indexOf('\n', end + 1)) {
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
      start = end + 1;
    }
    for (; quote !== -1; quote = all.indexOf('"', quote + 1)) inside = !inside;
    pending = all.slice(start);
    return { texts, lines };
  }

  function end(): Records {
    const last = pending;
    pending = '';
    return last === '' ? { texts: [], lines: [] } : { texts: [last], lines: [line] };
  }

  return { push, end, rest: () => ({ text: pending, line }) };
}

/** Number of line ends, of whatever kind. */
export function countLines(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}
