import { parseDuration } from '../duration.js';
import { parseInstant } from '../instant.js';
import type { DeploymentSettings, ModelSettings, PriceSettings } from '../settings.js';
import type { DeploymentFile } from './deployment.file.js';
import type { ModelFile } from './model.file.js';
import type { PricesFile } from './prices.file.js';
import { plain } from './shape.js';

/** A model in plain numbers. The file must be without faults. */
export function modelSettings(file: ModelFile): ModelSettings {
  return {
    name: file.name,
    aliases: file.aliases,
    created: typeof file.created === 'number' ? file.created : Math.floor(parseInstant(file.created) / 1_000),
    ownedBy: file.ownedBy ?? file.deployments[0]?.provider ?? file.name,
    contextWindow: file.contextWindow,
    maxOutputTokens: file.maxOutputTokens,
    separateInputLimit: file.separateInputLimit,
    supportsTemperature: file.supportsTemperature,
    tokenizer: plain(file.tokenizer),
    limits: plain(file.limits),
    timeouts: {
      connectMs: parseDuration(file.timeouts.connectMs),
      firstTokenMs: parseDuration(file.timeouts.firstTokenMs),
      idleMs: parseDuration(file.timeouts.idleMs),
    },
    slotLeaseMs: parseDuration(file.slotLeaseMs),
    busyWaitMs: parseDuration(file.busyWaitMs),
    fallbacks: file.fallbacks,
    prefer: file.prefer,
    deployments: file.deployments.map(deploymentSettings),
    simulated: {
      firstTokenMs: parseDuration(file.simulated.firstTokenMs),
      tokensPerSecond: file.simulated.tokensPerSecond,
    },
  };
}

function deploymentSettings(file: DeploymentFile): DeploymentSettings {
  const { prices, shutdownDate, successor } = file;
  return {
    provider: file.provider,
    model: file.model,
    ...(prices === undefined ? {} : { prices: priceSettings(prices) }),
    limits: plain(file.limits),
    ...(shutdownDate === undefined ? {} : { shutdownAt: parseInstant(shutdownDate) }),
    ...(successor === undefined ? {} : { successor }),
  };
}

function priceSettings({ input, cachedInput = input, cacheWrite, cacheWrite1h, output }: PricesFile): PriceSettings {
  return {
    input,
    cachedInput,
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(cacheWrite1h === undefined ? {} : { cacheWrite1h }),
    output,
  };
}
