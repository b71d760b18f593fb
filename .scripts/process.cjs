/**
 * What bundles have in the place of `node:process`: the same object. To import it as a module reads all that it has, the
 * standard streams and its reports included, which takes 10 ms of each start.
 */
module.exports = globalThis.process;
