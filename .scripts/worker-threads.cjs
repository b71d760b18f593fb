/** What bundles have in the place of `node:worker_threads`: only a shared ledger has a thread, so it is loaded with that. */
const load = () => globalThis.process.getBuiltinModule('node:worker_threads');
module.exports = {
  get MessageChannel() {
    return load().MessageChannel;
  },
  get receiveMessageOnPort() {
    return load().receiveMessageOnPort;
  },
  get Worker() {
    return load().Worker;
  },
  get workerData() {
    return load().workerData;
  },
};
