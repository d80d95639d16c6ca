/**
 * The coordinator's configuration for the bench: no limits of its own, but all that decides who is called and how long is waited: two
 * keys that take turns by the quota their answers tell, their worth asked for, and a fallback, so that every attempt has its
 * first-token or answer timer, learned from the calls before.
 */
import { hash } from 'node:crypto';
import { FALLBACK_MODEL, MODEL } from './workloads.mjs';

/** The provider's keys by their variables. */
export const PROVIDER_KEYS = { OPENAI_API_KEY: 'bench-key-1', OPENAI_API_KEY_2: 'bench-key-2' };

/** Of whoever may read the status. */
export const OPERATOR_KEY = 'bench-operator-key-0123456789abcdef';

export function coordinatorYaml(baseUrl) {
  return `providers:
  - name: openai
    kind: openai
    baseUrl: ${baseUrl}
    keyVariable: [${Object.keys(PROVIDER_KEYS).join(', ')}]
    usagePath: /usage
models:
  - name: ${MODEL}
    created: 2025-04-14
    ownedBy: openai
    contextWindow: 1047576
    maxOutputTokens: 32768
    tokenizer: { encoding: o200k, ratio: 1 }
    fallbacks: [${FALLBACK_MODEL}]
    deployments:
      - provider: openai
        model: gpt-4.1-2025-04-14
        prices: { input: 2.00, cachedInput: 0.50, output: 8.00 }
  - name: ${FALLBACK_MODEL}
    created: 2025-04-14
    ownedBy: openai
    contextWindow: 1047576
    maxOutputTokens: 32768
    tokenizer: { encoding: o200k, ratio: 1 }
    deployments:
      - provider: openai
        model: gpt-4.1-mini-2025-04-14
        prices: { input: 0.40, cachedInput: 0.10, output: 1.60 }
tiers:
  free: [${MODEL}, ${FALLBACK_MODEL}]
  pro: [${MODEL}, ${FALLBACK_MODEL}]
  enterprise: [${MODEL}, ${FALLBACK_MODEL}]
callers:
  - name: operator
    tier: free
    scopes: [admin]
    keySha256: ${hash('sha256', OPERATOR_KEY)}
`;
}
