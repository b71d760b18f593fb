/** A message to one or more numbers, as small as the API takes it. */
export function messageTo(...numbers: readonly string[]): Record<string, unknown> {
  return { channel: 'SMS', body: { text: 'Hello Zoë' }, recipients: numbers.map((msisdn) => ({ msisdn })) };
}
