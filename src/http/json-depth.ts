const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** With this bit set `[` reads `{` and `]` reads `}`, and nothing else does. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Whether a JSON text opens more containers inside each other than the limit, told from its brackets alone, before it is parsed:
 * a value of millions of containers takes seconds to walk, its text a fraction of one. For text that is not JSON the answer means
 * nothing but that reading it may stop.
 */
export function isNestedDeeper(text: string, limit: number): boolean {
  // Each level takes two characters.
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      continue;
    }
    const bracket = code | BRACE_BIT;
    if (bracket === OPENING) depth += 1;
    else if (bracket === CLOSING) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** Where the string ends whose opening quote is at `start`: at its closing quote, or at the text's end if there is none. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
