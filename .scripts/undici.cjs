/**
 * What bundles have in the place of `undici`: the part that a send needs, out of its own file. The index loads clients,
 * `fetch`, WebSockets, caches and mocks as well: 3 MB, and a few more of what they leave in the old generation.
 */
// By another name: the bundler would look for these files below the one that it is told to take for `undici`.
const load = require;

module.exports = {
  buildConnector: load('undici/lib/core/connect.js'),
  // The sandbox and `doctor` make requests by methods that only the index gives to what it exports.
  get Pool() {
    return load('undici').Pool;
  },
  get request() {
    return load('undici').request;
  },
};
