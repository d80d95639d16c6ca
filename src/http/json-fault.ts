type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or }' | 'comma or ]' | 'nothing';

/** A position from which a scan goes on, or at which it failed. */
interface Step {
  readonly at: number;
  readonly isFault: boolean;
}

/** Where a text stops being JSON. */
export interface JsonFault {
  /** The offset of the first character that can't follow; the text's length if it ends too early. */
  readonly at: number;
  /** False: nobody looked further than to `at`. */
  readonly isFound: boolean;
}

/** Far beyond any body that somebody wrote; one made to be long would cost seconds. */
const MAX_TOKENS = 200_000;

/** What the next token may begin with; that it is a value at all is seen when it is read. */
const STARTS: Readonly<Record<Expected, RegExp>> = {
  value: /[^}\]:,]/,
  'value or end': /[^}:,]/,
  key: /"/,
  'key or end': /["}]/,
  colon: /:/,
  'comma or }': /[,}]/,
  'comma or ]': /[,\]]/,
  nothing: /(?!)/,
};

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Where a text stops being JSON (RFC 8259); undefined if it is JSON. V8 names a position only for some faults and quotes the text
 * for others. Linear, without recursion and bounded, for it is fed what strangers send.
 *
 * @param maxTokens - how many tokens are looked at before it gives up
 */
export function jsonFaultAt(text: string, maxTokens = MAX_TOKENS): JsonFault | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (let tokens = 0; ; tokens += 1) {
    at = skip(SPACE, text, at);
    if (at === text.length) return expected === 'nothing' ? undefined : { at, isFound: true };
    if (tokens === maxTokens) return { at, isFound: false };
    const step = read(text, at, expected);
    if (step.isFault) return { at: step.at, isFound: true };
    expected = next(text.charAt(at), expected, open);
    at = step.at;
  }
}

/** Reads one token, if it is one of those expected. */
function read(text: string, at: number, expected: Expected): Step {
  const char = text.charAt(at);
  if (!STARTS[expected].test(char)) return { at, isFault: true };
  if (char === '"') return readString(text, at);
  if ('{}[]:,'.includes(char)) return { at: at + 1, isFault: false };
  const end = skip(LITERAL, text, at);
  return { at: end, isFault: end === at };
}

function readString(text: string, start: number): Step {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return { at: at + 1, isFault: false };
    if (code < 0x20) return { at, isFault: true };
    if (code !== 0x5c) continue;
    const end = skip(ESCAPE, text, at);
    if (end === at) return { at, isFault: true };
    at = end - 1;
  }
  return { at, isFault: true };
}

function next(token: string, expected: Expected, open: ('{' | '[')[]): Expected {
  switch (token) {
    case '{':
      open.push(token);
      return 'key or end';
    case '[':
      open.push(token);
      return 'value or end';
    case ':':
      return 'value';
    case ',':
      return open.at(-1) === '{' ? 'key' : 'value';
    case '}':
    case ']':
      open.pop();
      return afterValue(open);
  }
  return expected.startsWith('key') ? 'colon' : afterValue(open);
}

function afterValue(open: readonly ('{' | '[')[]): Expected {
  const around = open.at(-1);
  if (around === undefined) return 'nothing';
  return around === '{' ? 'comma or }' : 'comma or ]';
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
