/**
 * What bundles have in the place of `node:child_process`: its functions, loaded with the first that is called. Few commands
 * start another program, and what it is made of takes 5 ms.
 */
const load = () => globalThis.process.getBuiltinModule('node:child_process');
module.exports = {
  get execFile() {
    return load().execFile;
  },
  get execFileSync() {
    return load().execFileSync;
  },
  get spawn() {
    return load().spawn;
  },
};
