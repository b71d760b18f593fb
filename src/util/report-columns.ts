/**
 * What the names of the columns begin with that a report puts beside those of the list. Such a file can be sent as a list
 * again; what it says of the last time is nothing that a provider's template needs.
 */
export const REPORT_COLUMN_PREFIX = 'handbill_';
