/** What `report --format` takes, as the help lists it: those of src/report/format.ts, and the page. */
export const PRINT_FORMATS = ['text', 'brief', 'json', 'jsonl', 'csv', 'html'] as const;
export type PrintFormat = (typeof PRINT_FORMATS)[number];
