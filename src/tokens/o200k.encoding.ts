/** Distinct rare words whose encoding is remembered. */
const MERGE_CACHE_ENTRIES = 5_000;

// Without this option the library throws on `<|endoftext|>` in a user's text.
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

let loading: Promise<(piece: string) => number> | undefined;

/** The count function of o200k_base for short pieces (see text.pieces.ts), loaded on the first call. */
export function loadO200k(): Promise<(piece: string) => number> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<(piece: string) => number> {
  const { countTokens, setMergeCacheSize } = await import('gpt-tokenizer/encoding/o200k_base');
  setMergeCacheSize(MERGE_CACHE_ENTRIES);
  return (piece) => countTokens(detached(piece), PLAIN_TEXT);
}

/**
 * A copy that does not keep the text it was cut from alive: the library's cache holds on to parts of it, and V8's substrings to their whole
 * parent. Lone surrogates become U+FFFD on the way, which is how they are encoded anyway.
 */
function detached(piece: string): string {
  return Buffer.from(piece, 'utf8').toString('utf8');
}
