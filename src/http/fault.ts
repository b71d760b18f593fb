import type { AttemptError } from '../model.ts';

/** Faults that handbill itself detects. Codes only explain: phase and status decide the outcome. */
type FaultCode =
  /** The total time of the attempt was up. */
  | 'HANDBILL_TIMEOUT'
  /** The run stopped: the endpoint was closed or aborted. */
  | 'HANDBILL_STOPPED'
  /** undici was about to send one attempt twice. */
  | 'HANDBILL_STARTED_TWICE'
  /** An answer had begun, but never became a status line with headers. */
  | 'HANDBILL_PARTIAL_ANSWER'
  /** The connection broke, which undici took for the end of a body without a length. */
  | 'HANDBILL_CUT_BODY'
  /** The body is compressed although `identity` was asked for. */
  | 'HANDBILL_ENCODED_BODY'
  /** The proxy could not be reached or did not open a tunnel. */
  | 'HANDBILL_PROXY';

/**
 * Why an answer is not whole, for people; null: the error is not about its body.
 * @param error begins with its code
 */
export function brokenAnswer(error: string): string | null {
  if (/^(?:HANDBILL_ENCODED_BODY|UND_ERR_RES_EXCEEDED)/.test(error)) return 'answer could not be read';
  return /^(?:UND_ERR_|HANDBILL_|ECONNRESET)/.test(error) ? 'answer broke off' : null;
}

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error as plain data: code and message, never the object itself, which may hold headers and so the key. */
export function toAttemptError(error: unknown): AttemptError {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  // An AggregateError of several addresses has an empty message.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : null;
  return { code, message: error.message === '' && first instanceof Error ? first.message : error.message };
}

export interface ApiAddress {
  readonly url: string;
  readonly proxy: string | null;
}

/** `Cannot connect to api.example.com:443: connection refused`. Shows no path, no user and no key. */
export function cannotConnect({ url, proxy }: ApiAddress, { code, message }: AttemptError): string {
  const way = proxy === null ? '' : ` through the proxy ${hostOf(proxy)}`;
  // The message about a proxy's refusal is ours; others repeat the address, or come from a certificate.
  const why = WHY[code] ?? (code === 'HANDBILL_PROXY' ? message.replace(/\.$/, '') : code);
  return `Cannot connect to ${hostOf(url)}${way}: ${why}`;
}

function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

const SLOW = 'no answer in time';
const UNTRUSTED = 'its certificate is signed by an authority that this machine does not trust';

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'no local address or port is free',
  EMFILE: 'too many open files',
  EACCES: 'not allowed on this machine',
  ETIMEDOUT: SLOW,
  HANDBILL_TIMEOUT: SLOW,
  UND_ERR_CONNECT_TIMEOUT: SLOW,
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the name server does not answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
};
