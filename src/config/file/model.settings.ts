import { parseDuration } from '../duration.js';
import { parseInstant } from '../instant.js';
import type { Faults } from '../faults.js';
import type { DeploymentSettings, ModelSettings, PriceSettings } from '../settings.js';
import type { DeploymentFile } from './deployment.file.js';
import { limitSettings } from './limit.settings.js';
import type { ModelFile } from './model.file.js';
import type { PricesFile } from './prices.file.js';
import { plain } from './shape.js';

/** A model in plain numbers. The file must be without faults. */
export function modelSettings(file: ModelFile, index: number, faults: Faults): ModelSettings {
  const path = `models[${String(index)}]`;
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
    limits: limitSettings(file.limits, `${path}.limits`, faults),
    timeouts: {
      connectMs: parseDuration(file.timeouts.connectMs),
      firstTokenMs: parseDuration(file.timeouts.firstTokenMs),
      idleMs: parseDuration(file.timeouts.idleMs),
    },
    slotLeaseMs: parseDuration(file.slotLeaseMs),
    busyWaitMs: parseDuration(file.busyWaitMs),
    expectedOutputTokens: file.expectedOutputTokens,
    cacheTtlMs: parseDuration(file.cacheTtlMs),
    fallbacks: file.fallbacks,
    prefer: file.prefer,
    deployments: file.deployments.map((deployment, at) =>
      deploymentSettings(deployment, `${path}.deployments[${String(at)}]`, faults),
    ),
    simulated: {
      firstTokenMs: parseDuration(file.simulated.firstTokenMs),
      tokensPerSecond: file.simulated.tokensPerSecond,
    },
  };
}

function deploymentSettings(file: DeploymentFile, path: string, faults: Faults): DeploymentSettings {
  const { prices, shutdownDate, successor } = file;
  return {
    provider: file.provider,
    model: file.model,
    ...(prices === undefined ? {} : { prices: priceSettings(prices) }),
    limits: limitSettings(file.limits, `${path}.limits`, faults),
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
