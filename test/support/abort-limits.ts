import { sized } from './proof-scale.js';

/** Within so long a provider sees that a caller has left: what is promised, ms. */
export const ABORT_MS = 1_000;
/** So long a test waits for it: a machine that runs other things beside is late, and nothing else ends a call so soon. */
export const ABORT_SEEN_MS = sized(5_000, ABORT_MS);
