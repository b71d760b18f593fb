/**
 * The text as it is counted and sent: composed (NFC), so that `e` with a combining acute is the `é` that GSM-7 has,
 * and with LF line ends, because CR LF costs two septets for one break. ASCII without CR comes back as it is.
 */
export function normaliseText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return MAY_COMPOSE.test(lines) ? lines.normalize('NFC') : lines;
}

/** NFC changes nothing below U+0300, the first combining mark (Unicode, `NFC_Quick_Check`). */
const MAY_COMPOSE = /[\u0300-\uffff]/;
