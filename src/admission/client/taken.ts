import type { Claim } from './claim.js';
import type { ScopeClient } from './scope.client.js';

/** A claim that was granted, and where. */
export interface Taken {
  readonly client: ScopeClient;
  readonly claim: Claim;
}

/** Claims that were made at the same moment. @returns undefined: one was not granted, and none is left */
export async function allOrNone(claims: readonly Promise<Taken>[]): Promise<readonly Taken[] | undefined> {
  const outcomes = await Promise.allSettled(claims);
  const taken = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (taken.length === claims.length) return taken;
  // Why it was refused is told to whoever asks for it alone.
  for (const { client, claim } of taken.toReversed()) void client.cancel(claim);
  return undefined;
}
