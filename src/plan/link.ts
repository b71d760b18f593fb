/**
 * A link as phones find it, with a scheme or a path. Punctuation that ends it, and that of other scripts, is of the
 * sentence; letters without case may come right before it.
 */
export const LINK =
  /(?:(?<![a-z0-9])[a-z][a-z0-9]*:\/\/|(?<![\p{Ll}\p{Lu}\p{N}_.@&/-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?=[/?#]|:\d))[^\s"<>\u3000-\u303f\uff00-\uffef]*[^\s"<>\u3000-\u303f\uff00-\uffef.,;:!?)\]'’”»،؛؟…]/giu;
