/** Loaded before the command line: every folder lies on NFS. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { statfsSync } = fs;
Object.assign(fs, { statfsSync: (path: string) => ({ ...statfsSync(path), type: 0x6969 }) });
syncBuiltinESMExports();
