/** One step of the schema. */
export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
  /** What `schemaHash` gives afterwards: a ledger with anything else in it is not used. */
  readonly schemaSha256: string;
}
