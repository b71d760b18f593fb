import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { refuse } from './receive-answer.ts';
import { type Desk, receiveRequest } from './receive-request.ts';

interface Env {
  Bindings: HttpBindings;
}

/**
 * The routes: one path that takes POST. No answer carries a CORS header, and none has a body. With the scheme `path`,
 * one more segment is the secret.
 */
export function createReceiverApp(path: string, desk: Desk): Hono<Env> {
  const app = new Hono<Env>();
  const receive = async (c: Context<Env>, segment: string | null): Promise<Response> => {
    await receiveRequest(desk, c.env.incoming, c.env.outgoing, segment);
    return RESPONSE_ALREADY_SENT;
  };
  app.post(path, (c) => receive(c, null));
  const withSecret = `${path}/:secret`;
  if (desk.scheme.kind === 'path') app.post(withSecret, (c) => receive(c, c.req.param('secret') ?? null));
  app.notFound((c: Context<Env>) => {
    const { incoming, outgoing } = c.env;
    const rest = c.req.path.startsWith(`${path}/`) ? c.req.path.slice(path.length + 1) : null;
    const here = c.req.path === path || (desk.scheme.kind === 'path' && rest !== null && /^[^/]+$/.test(rest));
    if (here) {
      desk.log.refused(405, 'another method than POST');
      refuse(incoming, outgoing, 405, { Allow: 'POST' });
    } else {
      desk.log.refused(404, 'another path');
      refuse(incoming, outgoing, 404);
    }
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c: Context<Env>) => {
    // Its message could hold what somebody sent.
    desk.log.refused(500, `a bug: ${error.name}`);
    refuse(c.env.incoming, c.env.outgoing, 500);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
