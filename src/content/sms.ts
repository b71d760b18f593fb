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

/** With the characters that make it UCS-2 where the campaign does not ask for that. */
function textElement(text: string, facts: Parameters<ChannelEntry['describe']>[0]['sms']) {
  if (facts === null) return { kind: 'text', text } as const;
  const isOdd = facts.encoding === 'UCS-2' && facts.characterSet === 'auto';
  const odd = isOdd ? unicodeCauses(text).map(({ codePoint }) => codePoint) : [];
  return { kind: 'text', text, parts: smsParts(text, facts.encoding), odd } as const;
}
