/** The first status line that is final, read as plainly as can be; null where there is none. */
export function statusOf(bytes: Buffer): number | null {
  let rest = bytes.toString('latin1').replace(/^(?:\r?\n)+/, '');
  for (;;) {
    const status = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n/.exec(rest)?.[1];
    if (status === undefined) return null;
    const end = /\r?\n\r?\n/.exec(rest);
    if (end === null) return null;
    if (Number(status) >= 200) return Number(status);
    rest = rest.slice(end.index + end[0].length);
  }
}
