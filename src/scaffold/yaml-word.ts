/**
 * A text as a YAML value on one line, quoted unless it is a word that no reader of YAML takes for anything else (version
 * 1.1, which some editors read, knows `no` and `on` as booleans). What JSON escapes is what YAML escapes.
 */
export function yamlWord(text: string): string {
  return /^[A-Za-z][A-Za-z_/-]*$/.test(text) && !BOOLEAN.test(text) ? text : JSON.stringify(text);
}

const BOOLEAN = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
