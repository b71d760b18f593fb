/**
 * The yardstick of what walks a list: a file read by csv-parse as a stream, and every cell counted. No address, no
 * template, no rule. Argument: the file.
 */
import { createReadStream } from 'node:fs';
import process from 'node:process';
import { parse } from 'csv-parse';

let cells = 0;
const records = createReadStream(process.argv[2] ?? '').pipe(parse());
for await (const record of records as AsyncIterable<readonly string[]>) cells += record.length;
if (cells === 0) throw new Error('There was nothing to read.');
