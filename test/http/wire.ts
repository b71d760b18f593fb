import { parse } from 'yaml';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { readWire } from '../../src/campaign/environments.ts';
import type { WireFile } from '../../src/campaign/written.ts';
import { type CompiledWire, compilePointers } from '../../src/http/answer.ts';
import type { Wire } from '../../src/model.ts';

/** Wire settings as a project without a `wire` has them, but for a few pointers, so that tests can say which one hits. */
export function wireWith(response: Partial<Wire['response']> = {}, redact?: (text: string) => string): CompiledWire {
  const few = { messageId: ['/id', '/messageId'], error: ['/error/message', '/message', '/error'] };
  const wire: Wire = { ...DEFAULT_WIRE, response: { ...DEFAULT_WIRE.response, ...few, ...response } };
  return compilePointers(wire, redact);
}

/** Wire settings as a project has them that writes this. */
export function wireOf(written: WireFile = {}, redact?: (text: string) => string): CompiledWire {
  return compilePointers(readWire(written), redact);
}

/** Wire settings with rules as YAML writes them: `status: 503, then: retry`, each in a text. */
export function rules(...written: readonly string[]): WireFile {
  return parse(`answers: [${written.map((rule) => `{ ${rule} }`).join(', ')}]`) as WireFile;
}
