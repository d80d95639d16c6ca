/** Does a coordinator route by what it has learned? Otherwise its figures would be those of another program. */
import { MODEL } from './workloads.mjs';

/** @returns {Promise<string | undefined>} the first thing that its status lacks, undefined when it has all of it */
export async function faultOfRouting(url, operatorKey) {
  const answer = await fetch(`${url}/status`, { headers: { authorization: `Bearer ${operatorKey}` } });
  if (!answer.ok) return `its status answers ${answer.status}`;
  return faultIn(await answer.json());
}

function faultIn({ upstreams, models }) {
  const { deployments, timeouts, latency } = models.find(({ model }) => model === MODEL);
  if (upstreams.length < 2 || deployments.length < 2) return 'there is only one key';
  if (!upstreams.every(({ tier }) => tier === 'enterprise')) return 'it was not told what a key is worth';
  if (!deployments.every(({ rate_limits: told }) => told.length > 0))
    return 'a key was not used, or told no rate limit';
  if (!timeouts.first_token_learned) return 'the time to the first token is not learned';
  return latency.tokens_per_second === null ? 'the time of an answer is not learned' : undefined;
}
