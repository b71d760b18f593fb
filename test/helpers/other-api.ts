import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** APIs that answer in another form than the sandbox: one id at the top, an entry for each recipient, ASP.NET's errors. */
export type OtherForm = 'top-level' | 'per-recipient' | 'problem';

const UNSUPPORTED = 'The recipient cannot receive RCS: the device is an Android 4.4.';

/** What is wrong with a recipient: numbers that end in 844 cannot receive the channel, those in 400 are refused. */
function faultOf(to: string): { readonly status: 422 | 400; readonly code: string; readonly detail: string } | null {
  if (to.endsWith('844')) return { status: 422, code: 'CHANNEL_NOT_SUPPORTED', detail: UNSUPPORTED };
  return to.endsWith('400') ? { status: 400, code: 'BAD_REQUEST', detail: 'The number is refused.' } : null;
}

function answerOf(form: OtherForm, numbers: readonly string[]): { readonly status: number; readonly body: object } {
  const fault = numbers.map(faultOf).find((one) => one !== null);
  switch (form) {
    case 'top-level': {
      if (fault === undefined) return { status: 202, body: { messageId: 'sbx-1' } };
      const errorCode = fault.status === 422 ? 'E4221' : 'E400';
      return { status: fault.status, body: { errorCode, description: fault.detail } };
    }
    case 'problem': {
      if (fault === undefined) return { status: 201, body: { id: 'sbx-1' } };
      const status = fault.status === 422 ? 404 : 400;
      return { status, body: { title: 'One or more errors occurred.', status, detail: fault.detail } };
    }
    case 'per-recipient': {
      const messages = numbers.map((to, i) => {
        const own = faultOf(to);
        if (own === null) return { to, messageId: `sbx-1-${i + 1}`, status: { groupName: 'PENDING' } };
        return { to, status: { groupName: 'REJECTED' }, error: { code: own.code, description: own.detail } };
      });
      return { status: 200, body: { bulkId: 'bulk-1', messages } };
    }
  }
}

/** Serves `POST` in that form, on a free port. */
export async function startOtherApi(form: OtherForm): Promise<{ readonly url: string } & AsyncDisposable> {
  const server: Server = createServer(async (incoming, outgoing) => {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const { recipients } = JSON.parse(text) as { recipients: readonly { readonly msisdn: string }[] };
    const { status, body } = answerOf(
      form,
      recipients.map(({ msisdn }) => msisdn),
    );
    outgoing.writeHead(status, {
      'content-type': form === 'problem' && status > 299 ? 'application/problem+json' : 'application/json',
    });
    outgoing.end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
