import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';

interface Recipient {
  readonly msisdn: string;
  readonly metaData: { readonly handbill: string };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Recipients in the body of a request. */
export function recipientsIn(body: string): readonly Recipient[] {
  return (JSON.parse(body) as { recipients: readonly Recipient[] }).recipients;
}

export interface FileApi {
  readonly url: string;
  /** Of the requests since the test began, or since it was emptied. */
  readonly bodies: string[];
  /** The recipients of these requests, in order. */
  recipients(): readonly Recipient[];
  /** Their numbers. */
  numbers(): readonly string[];
}

/**
 * An API for the tests of a file: by default it accepts every request, the n-th one as `m-n`.
 *
 * @param answer - null cuts the connection
 */
export function useApi(answer: (body: string, number: number) => Answer | null = accepted): FileApi {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    bodies.push(body);
    const answered = answer(body, bodies.length);
    if (answered === null) request.socket.destroy();
    else response.writeHead(answered.status, { 'content-type': 'application/json' }).end(answered.body);
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    bodies.length = 0;
  });
  const recipients = () => bodies.flatMap(recipientsIn);
  return {
    get url() {
      return url;
    },
    bodies,
    recipients,
    numbers: () => recipients().map(({ msisdn }) => msisdn),
  };
}

export function accepted(_body: string, number: number): Answer {
  return { status: 202, body: `{"id":"m-${number}"}` };
}
