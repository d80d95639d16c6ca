/** True under `npm run proof`: the full counts; otherwise the small size that `npm test` runs. */
export const isFullProof = process.env['PROOF'] === 'full';

/** The size of a suite that proves an invariant: `small` in `npm test`, `full` in `npm run proof`. */
export function sized(small: number, full: number): number {
  return isFullProof ? full : small;
}
