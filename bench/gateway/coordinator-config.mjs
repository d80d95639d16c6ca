/** The coordinator's configuration for the bench: one provider, one model, no limits, so that nothing but the path is measured. */
import { MODEL } from './workloads.mjs';

export function coordinatorYaml(baseUrl) {
  return `providers:
  - name: openai
    kind: openai
    baseUrl: ${baseUrl}
    keyVariable: OPENAI_API_KEY
models:
  - name: ${MODEL}
    created: 2025-04-14
    ownedBy: openai
    contextWindow: 1047576
    maxOutputTokens: 32768
    tokenizer: { encoding: o200k, ratio: 1 }
    deployments:
      - provider: openai
        model: gpt-4.1-2025-04-14
        prices: { input: 2.00, cachedInput: 0.50, output: 8.00 }
tiers:
  free: [${MODEL}]
  pro: [${MODEL}]
  enterprise: [${MODEL}]
`;
}
