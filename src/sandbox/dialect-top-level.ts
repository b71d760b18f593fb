import type { Dialect, ErrorRest } from './dialect.ts';

/**
 * The id alone at the top; errors with a code, a description and violations. A request is taken whole or not at all.
 */
export const TOP_LEVEL_DIALECT: Dialect = {
  name: 'top-level',
  says: 'one messageId at the top, errors with errorCode and description; taken whole or not at all',
  request: 'Message',
  acceptedStatus: 202,
  invalidStatus: 400,
  unsupportedStatus: 422,
  results: 'never',
  accepted: (id) => `{"messageId":"${id}"}`,
  errorType: 'application/json',
  error,
};

/** Codes that say more than the status does. */
const CODES: ReadonlyMap<string, string> = new Map([['channel-not-supported', 'E4221']]);

function error(status: number, { detail, code, errors }: ErrorRest): string {
  const violations = errors?.map((fault) => ({ property: propertyOf(fault.pointer), violation: fault.detail }));
  const errorCode = CODES.get(code ?? '') ?? `E${status}`;
  return JSON.stringify({ errorCode, description: detail, ...(violations === undefined ? {} : { violations }) });
}

/** `#/recipients/0/msisdn` as `recipients[0].msisdn`. */
export function propertyOf(pointer: string): string {
  return pointer
    .replace(/^#\/?/, '')
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
}
