import { UndiciTransport } from '../../src/ai/upstream/undici.transport.js';
import { anthropicRig } from '../contract/provider.anthropic-rig.js';
import { MODEL } from '../contract/provider.attempts.js';
import { azureClassicRig, azureRig } from '../contract/provider.azure-rig.js';
import { openAiRig } from '../contract/provider.openai-rig.js';
import type { ProviderBench, ProviderRig } from '../contract/provider.rig.js';
import { vertexRig } from '../contract/provider.vertex-rig.js';
import { openTiers } from './config-file.js';
import { type Coordinator, startConfigured } from './configured-coordinator.js';

/** For `describe.each`: every kind of provider. */
export const KIND_RIGS: readonly (readonly [name: string, rig: ProviderRig])[] = [
  ['openai', openAiRig],
  ['azure', azureRig],
  ['azure, under its classic URLs', azureClassicRig],
  ['anthropic', anthropicRig],
  ['vertex', vertexRig],
];

/** A coordinator before the fake of one kind of provider; `m` is its model. */
export interface KindRig {
  readonly coordinator: Coordinator;
  readonly bench: ProviderBench;
  close(): Promise<void>;
}

/**
 * @param model - what the model's entry says besides its deployment's name, or in its place
 */
export async function startKind(rig: ProviderRig, model: object = {}): Promise<KindRig> {
  const transport = new UndiciTransport();
  const bench = await rig.start(transport);
  // The service makes an adapter of its own.
  await transport.close();
  const { name, kind, baseUrl, apiKey, apiVersion } = bench.upstream;
  const classic = apiVersion === undefined ? {} : { deploymentUrls: true, apiVersion };
  const prices = rig.usages[0]?.prices;
  const coordinator = await startConfigured({
    file: {
      providers: [{ name, kind, baseUrl, keyVariable: 'PROVIDER_KEY', ...classic }],
      models: [
        {
          name: 'm',
          contextWindow: 200_000,
          maxOutputTokens: 4_096,
          // Each request is a call.
          cacheTtlMs: 0,
          deployments: [{ provider: name, model: MODEL, ...(prices && { prices }) }],
          ...model,
        },
      ],
      tiers: openTiers(['m']),
    },
    // Not told to the log as a secret: nothing may be left for it to take out.
    keys: {},
    environment: { PROVIDER_KEY: apiKey },
  });
  return {
    coordinator,
    bench,
    close: async () => {
      await coordinator.close();
      await bench.close();
    },
  };
}
