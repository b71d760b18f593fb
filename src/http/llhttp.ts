import { createRequire } from 'node:module';
import { onDemand } from '../util/on-demand.ts';

/**
 * undici's build of llhttp, the parser of HTTP/1.1 that Node and undici share, loaded by the names of its own files.
 *
 * Not undici's client around it: what that makes and keeps for each request takes more than the parser, the socket and
 * the system together (ARCHITECTURE, "What it costs"). It is the version that `package.json` pins, and `test/faults` and
 * `test/http` hold every answer against it.
 */

/** What the parser calls. Places are addresses in its memory; anything but 0 ends `execute` with an error. */
export interface ParserHooks {
  begin(parser: number): number;
  name(parser: number, at: number, length: number): number;
  value(parser: number, at: number, length: number): number;
  /** 1 says that the answer has no body. */
  head(parser: number, status: number, upgrade: number, keepAlive: number): number;
  body(parser: number, at: number, length: number): number;
  end(parser: number): number;
}

export interface Llhttp {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(bytes: number): number;
  /** A parser of this type: 2 for answers. */
  llhttp_alloc(type: number): number;
  llhttp_free(parser: number): void;
  /** The number of the error, 0 for none. */
  llhttp_execute(parser: number, at: number, length: number): number;
  /** The connection has ended. As `execute`. */
  llhttp_finish(parser: number): number;
  /** The place of a text that ends with a 0. */
  llhttp_errno_name(error: number): number;
  llhttp_get_error_reason(parser: number): number;
}

/** What is used of it: the types of Node leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => {
    readonly exports: unknown;
  };
};

const require = createRequire(import.meta.url);

const compiled = onDemand((): object => {
  try {
    return new WebAssembly.Module(require('undici/lib/llhttp/llhttp_simd-wasm.js') as Uint8Array);
  } catch {
    // Processors without the instructions for several values at a time; undici does the same.
    return new WebAssembly.Module(require('undici/lib/llhttp/llhttp-wasm.js') as Uint8Array);
  }
});

/** One instance of the parser, with these hooks. */
export function loadLlhttp(hooks: ParserHooks): Llhttp {
  const ignored = (): number => 0;
  const instance = new WebAssembly.Instance(compiled(), {
    env: {
      wasm_on_url: ignored,
      wasm_on_status: ignored,
      wasm_on_message_begin: hooks.begin,
      wasm_on_header_field: hooks.name,
      wasm_on_header_value: hooks.value,
      wasm_on_headers_complete: hooks.head,
      wasm_on_body: hooks.body,
      wasm_on_message_complete: hooks.end,
    },
  });
  // The parser says in WebAssembly what it exports, which no type reaches.
  return instance.exports as Llhttp;
}
