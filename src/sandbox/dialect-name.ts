export const DIALECT_NAMES = ['default', 'top-level', 'per-recipient', 'problem'] as const;

/** How the sandbox speaks; docs/sandbox.md shows each. */
export type DialectName = (typeof DIALECT_NAMES)[number];
