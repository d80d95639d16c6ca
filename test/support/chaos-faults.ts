/** Scripts of the simulator: all the ways in which it can fail a call that another deployment, or another try, would answer. */
const FAULTS: readonly object[] = [
  { reset: true },
  { neverAnswer: true },
  { delayMs: 1_500 },
  { status: 404 },
  { status: 408 },
  { status: 409 },
  { status: 429 },
  { status: 429, headers: { 'retry-after-ms': '80' } },
  { status: 500 },
  { status: 502, body: '<html>Bad Gateway</html>' },
  { status: 503, headers: { 'retry-after': '1' } },
  { status: 504 },
  { status: 529 },
  { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } },
  { status: 200, body: { error: { message: 'inside a 200', type: 'overloaded_error' } } },
  { status: 200, body: '' },
  { garbageBody: true },
  { frames: ['data: {"error":{"message":"at once","type":"server_error"}}\n\n'] },
  { frames: [': nothing but a comment\n\n'] },
  { earlyHead: true, stallAfterFrames: 0 },
  { cutAfterFrames: 0 },
  { cutAfterFrames: 1 },
  { cutAfterFrames: 4 },
  { endAfterFrames: 1 },
  { endAfterFrames: 3 },
  { garbageAfterFrames: 1 },
  { garbageAfterFrames: 5 },
  { errorAfterFrames: 1 },
  { errorAfterFrames: 3, error: { message: 'in the middle', code: 429 } },
  { stallAfterFrames: 1 },
  { stallAfterFrames: 3 },
];

/** Odd, but no failure: the answer is whole. */
const ODDITIES: readonly object[] = [
  { crlf: true },
  { bytewise: true },
  { splitAt: 7 },
  { drip: { bytes: 40, everyMs: 1 } },
  { comments: true },
  { earlyHead: true, delayMs: 50 },
  { usage: null },
  { stallAfterFrames: 2, stallMs: 150 },
];

/** A request with this in it is refused as wrong, whoever is asked. */
export const WRONG = '(refuse this request)';

/** What an upstream does in the whole run. @param badKey - the end of a key of ours that it does not take, and one that is used up */
export function lastingScripts(keys: { readonly refused: string; readonly usedUp: string }): readonly object[] {
  const usedUp = { error: { message: 'no quota', type: 'insufficient_quota', code: 'insufficient_quota' } };
  return [
    { contains: WRONG, status: 400, times: 'always' },
    { keyEndsWith: keys.refused, status: 401, times: 'always' },
    { keyEndsWith: keys.usedUp, status: 429, body: usedUp, times: 'always' },
    ...FAULTS.map((fault) => ({ ...fault, share: 0.005 })),
    ...ODDITIES.map((oddity) => ({ ...oddity, share: 0.02 })),
  ];
}

/** Once: a deployment that gets it is left alone for the rest of the run. */
export const LONG_WAIT: object = { status: 429, headers: { 'retry-after': '3600' } };

/** An upstream that fails every one of its next calls, in one way. @param pick - 0 to 1 */
export function outage(pick: number, calls: number): object {
  return { ...FAULTS[Math.floor(pick * FAULTS.length)], times: calls };
}
