import fc from 'fast-check';

/**
 * Any text at all, control characters and letters of every script among it. fast-check's own unit for it takes seconds to
 * begin.
 *
 * @param isWhole - without halves of pairs
 */
export function anyText(maxLength = 10, isWhole = false): fc.Arbitrary<string> {
  const rest = isWhole
    ? [fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff })]
    : [fc.integer({ min: 0, max: 0x10ffff })];
  return fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0x2fff }), ...rest), { maxLength })
    .map((codes) => String.fromCodePoint(...codes));
}
