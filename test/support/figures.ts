import { appendFileSync } from 'node:fs';

/**
 * Hands measured figures to `npm run proof`, which writes them into docs/proof/. Without effect in `npm test`.
 *
 * @param name what was measured, e.g. `soak`; figures given under one name in several calls are put together
 */
export function recordFigures(name: string, figures: Readonly<Record<string, unknown>>): void {
  const file = process.env['PROOF_FIGURES'];
  // One write per call: suites that run side by side share the file.
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, figures })}\n`);
}
