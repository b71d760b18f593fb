/**
 * What bundles have in the place of `node:util`: the same object. To import it as a module reads all that it has, also the
 * parts that Node loads on demand, such as MIME types and the ports of threads.
 */
module.exports = globalThis.process.getBuiltinModule('node:util');
