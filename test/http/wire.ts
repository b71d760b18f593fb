import { type CompiledWire, compilePointers } from '../../src/http/pointers.ts';
import type { Wire } from '../../src/model.ts';

/** Wire settings as a project without a `wire` has them, in what answers are concerned. */
export function wireWith(
  response: Partial<Wire['response']> = {},
  retryStatuses: readonly number[] = [],
  redact?: (text: string) => string,
): CompiledWire {
  const wire: Wire = {
    channels: { sms: 'SMS', rcs: 'RCS', 'messaging-app': 'MessagingApp', email: 'Email', voice: 'Voice' },
    characterSets: { auto: 'Auto', gsm: 'GSM', unicode: 'Unicode' },
    response: {
      messageId: ['/id', '/messageId'],
      messageIdRequired: false,
      error: ['/error/message', '/message', '/error'],
      failed: [],
      accept: 'json',
      ...response,
    },
    retryStatuses,
    idempotencyHeader: null,
  };
  return compilePointers(wire, redact);
}
