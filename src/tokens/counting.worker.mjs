/**
 * The thread that encodes. Plain JavaScript, because a thread loads its file itself: the same one serves the sources, the tests and the build.
 *
 * In: `{ id, encoding, pieces }`, out: `{ id, tokens }`. Whatever goes wrong ends the thread, and its owner is told.
 */
import { parentPort } from 'node:worker_threads';

/** Distinct rare words whose encoding is remembered. Keys are parts of pieces, so that this is at most 10 MB. */
const MERGE_CACHE_ENTRIES = 5_000;

const LOADERS = { o200k: loadO200k, claude: loadClaude };

/** @type {Map<string, Promise<(piece: string) => number>>} */
const encoders = new Map();

parentPort.on('message', async ({ id, encoding, pieces }) => {
  if (!encoders.has(encoding)) encoders.set(encoding, LOADERS[encoding]());
  const encode = await encoders.get(encoding);
  let tokens = 0;
  for (const piece of pieces) tokens += encode(piece);
  parentPort.postMessage({ id, tokens });
});

async function loadO200k() {
  const { countTokens, setMergeCacheSize } = await import('gpt-tokenizer/encoding/o200k_base');
  setMergeCacheSize(MERGE_CACHE_ENTRIES);
  // Without this option it throws on `<|endoftext|>` in a user's text.
  const plainText = { disallowedSpecial: new Set() };
  return (piece) => countTokens(piece, plainText);
}

async function loadClaude() {
  const [{ Tokenizer }, vocabulary] = await Promise.all([
    import('ai-tokenizer'),
    import('ai-tokenizer/encoding/claude'),
  ]);
  // It looks words up in a plain object, where `toString` would be found as well.
  Object.setPrototypeOf(vocabulary.stringEncoder, null);
  const tokenizer = new Tokenizer(vocabulary, {}, MERGE_CACHE_ENTRIES);
  // Its count() throws on `<EOT>` in a user's text.
  return (piece) => tokenizer.encodeOrdinary(piece).length;
}
