import type { BootContext } from './boot-context.js';
import { SERVER_VARIABLES as SERVER } from './environment/server.variables.js';
import { formatDay } from './instant.js';
import type { DeploymentSettings, ModelSettings, ProviderSettings, Settings } from './settings.js';

const DAY_MS = 86_400_000;
/** How long before a vendor's shutdown the operator is told at every boot. */
const WARNING_DAYS = 60;

/** Where completions go: to the providers with a key, else to the simulator, which production must ask for. */
export function upstreamOf(providers: readonly ProviderSettings[], context: BootContext): Settings['upstream'] {
  const { reader, faults, notices, isProduction } = context;
  const asked = reader.value(SERVER.upstream);
  const variables = [...new Set(providers.flatMap(({ keyVariables }) => keyVariables))];
  if (asked === 'simulator') {
    notices.push('UPSTREAM=simulator: every answer is made up by the built-in simulator');
    return 'simulator';
  }
  // A key that is set but was refused is a fault of its own, not an absence.
  if (variables.some((variable) => reader.isSet(variable))) return 'providers';
  const choice = variables.join(', ');
  if (asked === 'providers') faults.add('UPSTREAM', `is providers, but none has a key: set one of ${choice}`);
  else if (isProduction)
    faults.add(
      'UPSTREAM',
      `no provider has a key: set one of ${choice}, or UPSTREAM=simulator to answer with made-up text`,
    );
  else notices.push(`no provider has a key: every answer is made up by the built-in simulator; set one of ${choice}`);
  return 'simulator';
}

/** What an operator must know about deployments that end, and about models that nobody with a key serves. Never a fault. */
export function lifecycleNotices(
  models: readonly ModelSettings[],
  providers: readonly ProviderSettings[],
  now: number,
): readonly string[] {
  const keyed = providers.filter(({ apiKeys }) => apiKeys.length > 0);
  return models.flatMap((model) => {
    const usable = deploymentsAt(keyed, model);
    const notices = usable.flatMap((deployment) => endNotice(model, deployment, now) ?? []);
    if (usable.length === 0) return [`no provider with a key serves ${model.name}`];
    return usable.every((deployment) => hasEnded(deployment, now))
      ? [...notices, `no live deployment of ${model.name} is left: calls are answered 410 model_retired`]
      : notices;
  });
}

function deploymentsAt(
  providers: readonly ProviderSettings[],
  { deployments }: ModelSettings,
): readonly DeploymentSettings[] {
  return deployments.filter(({ provider }) => providers.some(({ name }) => name === provider));
}

function hasEnded({ shutdownAt }: DeploymentSettings, now: number): boolean {
  return shutdownAt !== undefined && shutdownAt <= now;
}

function endNotice(model: ModelSettings, deployment: DeploymentSettings, now: number): string | undefined {
  const { provider, shutdownAt, successor = 'not named' } = deployment;
  if (shutdownAt === undefined || shutdownAt > now + WARNING_DAYS * DAY_MS) return undefined;
  const what = `${model.name} at ${provider}`;
  const day = formatDay(shutdownAt);
  if (shutdownAt <= now) return `${what} was shut down on ${day} and is left out; its successor is ${successor}`;
  const days = Math.ceil((shutdownAt - now) / DAY_MS);
  return `${what} will be shut down on ${day}, in ${String(days)} ${days === 1 ? 'day' : 'days'}; its successor is ${successor}`;
}
