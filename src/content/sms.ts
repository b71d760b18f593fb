import { type ChannelEntry, EXAMPLE_TEXT } from './channel.ts';
import { smsParts } from './sms-parts.ts';
import { unicodeCauses } from './unicode.ts';

export const sms: ChannelEntry = {
  label: 'SMS',
  address: 'msisdn',
  keys: [],
  check: () => [],
  describe: ({ text, sms: facts }) => ({ on: 'phone', elements: text === null ? [] : [textElement(text, facts)] }),
  reported: 'sms mms',
  init: { label: 'SMS', template: EXAMPLE_TEXT, yaml: '', sender: 'sms' },
};

/** A message of which more is outside GSM-7 is in another script: marks in all of it would help no reader. */
const MOST_ODD = 0.2;

/** With the characters that make it UCS-2, if they are few and the campaign does not ask for that. */
function textElement(text: string, facts: Parameters<ChannelEntry['describe']>[0]['sms']) {
  if (facts === null) return { kind: 'text', text } as const;
  const isOdd = facts.encoding === 'UCS-2' && facts.characterSet === 'auto';
  const found = new Set(isOdd ? unicodeCauses(text).map(({ codePoint }) => codePoint) : []);
  const all = found.size === 0 ? [] : [...text];
  const isFew = all.filter((one) => found.has(one.codePointAt(0) ?? 0)).length <= MOST_ODD * all.length;
  return { kind: 'text', text, parts: smsParts(text, facts.encoding), odd: isFew ? [...found] : [] } as const;
}
