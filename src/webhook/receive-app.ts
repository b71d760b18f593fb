import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { refuse } from './receive-answer.ts';
import { type Desk, receiveRequest } from './receive-request.ts';

interface Env {
  Bindings: HttpBindings;
}

/**
 * The routes: paths that take POST, each for an environment. No answer carries a CORS header, and none has a body. With
 * the scheme `path`, one more segment is the secret.
 *
 * @param paths - each with the environment whose events come in there; empty: nobody says
 */
export function createReceiverApp(paths: ReadonlyMap<string, string>, desk: Desk): Hono<Env> {
  const app = new Hono<Env>();
  const hasSecret = desk.scheme.kind === 'path';
  const receive = async (c: Context<Env>, environment: string, segment: string | null): Promise<Response> => {
    await receiveRequest(desk, c.env.incoming, c.env.outgoing, { environment, segment });
    return RESPONSE_ALREADY_SENT;
  };
  for (const [path, environment] of paths) {
    app.post(path, (c) => receive(c, environment, null));
    if (hasSecret) app.post(`${path}/:secret`, (c) => receive(c, environment, c.req.param('secret') ?? null));
  }
  app.notFound((c: Context<Env>) => {
    const { incoming, outgoing } = c.env;
    const parent = c.req.path.slice(0, c.req.path.lastIndexOf('/'));
    const here = paths.has(c.req.path) || (hasSecret && paths.has(parent) && !c.req.path.endsWith('/'));
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
