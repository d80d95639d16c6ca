import { fileURLToPath } from 'node:url';
import type { BootContext } from './boot-context.js';
import { callerSettings } from './caller.rules.js';
import type { CallerSettings, IssuerSettings } from './caller.settings.js';
import { deepFreeze } from './deep-freeze.js';
import { environmentNotices } from './environment/environment.notices.js';
import { EnvironmentReader, type Environment } from './environment/environment.reader.js';
import { ENVIRONMENT_TABLE, namesOf } from './environment/environment.table.js';
import { SERVER_VARIABLES as SERVER } from './environment/server.variables.js';
import { Faults } from './faults.js';
import { attemptSettings } from './file/attempt.settings.js';
import { AttemptsFile } from './file/attempts.file.js';
import { variablesIn } from './file/base-url.js';
import { CacheFile } from './file/cache.file.js';
import { cacheSettings, conversationSettings, ledgerSettings } from './file/keeping.settings.js';
import type { CoordinatorFile } from './file/coordinator.file.js';
import { readCoordinatorFile } from './file/file.reader.js';
import { ConversationsFile } from './file/conversations.file.js';
import { LedgerFile } from './file/ledger.file.js';
import { modelSettings } from './file/model.settings.js';
import { keyVariablesOf } from './file/provider.keys.js';
import { providerSettings } from './file/provider.settings.js';
import { checkReferences } from './file/references.js';
import { plain } from './file/shape.js';
import { callersNamedBy, issuerSettings } from './issuer.rules.js';
import { readText, readTextIfThere, type ReadFile } from './read-text.js';
import { serverSettings } from './server.settings.js';
import type { Settings } from './settings.js';
import { storeSettings } from './store.rules.js';
import { telemetrySettings } from './telemetry.rules.js';
import { lifecycleNotices, upstreamOf } from './upstream.rules.js';

/** The catalogue that comes with the product; the same place seen from src/ and from dist/. */
export const SHIPPED_CONFIG_FILE = fileURLToPath(new URL('../../coordinator.yaml', import.meta.url));
const USUAL_CONFIG_FILE = 'coordinator.yaml';

export interface SettingsSources {
  readonly environment: Environment;
  /** Reads a text file; a path without a leading slash is relative to the working directory. */
  readonly readFile: ReadFile;
  /** Unix milliseconds; decides which vendors' deployments have ended. */
  readonly now: number;
}

/**
 * Everything the process is told from outside, checked, completed with defaults and deeply frozen.
 *
 * @throws ConfigurationError with every fault of the environment and of coordinator.yaml at once
 */
export function loadSettings({ environment, readFile, now }: SettingsSources): Settings {
  const faults = new Faults();
  const reader = new EnvironmentReader(environment, readFile, faults);
  const isProduction = reader.value(SERVER.nodeEnv) === 'production';
  const context: BootContext = { reader, readFile, faults, isProduction, now, notices: [] };
  const store = storeSettings(context);
  const file = coordinatorFile(context);
  const catalogue = catalogueOf(file, context);
  const attempts = attemptSettings(sectionOf(file, 'attempts', faults) ?? new AttemptsFile(), faults);
  const cache = cacheSettings(sectionOf(file, 'cache', faults) ?? new CacheFile(), faults);
  const ledger = ledgerSettings(sectionOf(file, 'ledger', faults) ?? new LedgerFile());
  const conversations = conversationSettings(sectionOf(file, 'conversations', faults) ?? new ConversationsFile());
  const callers = callersOf(file, context);
  const issuers = issuersOf(file, callers, faults);
  const server = serverSettings(context, callers);
  const expectedPods = reader.value(SERVER.expectedPods);
  const telemetry = telemetrySettings(context);
  faults.throwIfAny();
  const notices = [...context.notices, ...environmentNotices(environment, knownNames(file))];
  return deepFreeze({
    isProduction,
    server,
    store,
    expectedPods,
    ...catalogue,
    attempts,
    cache,
    ledger,
    conversations,
    callers,
    issuers,
    telemetry,
    notices,
  });
}

function coordinatorFile({ reader, readFile, faults }: BootContext): CoordinatorFile | undefined {
  const named = reader.value(SERVER.configFile);
  const found = faults.parse('CONFIG_FILE', () => {
    if (named !== undefined) return { path: named, text: readText(readFile, named) };
    const usual = readTextIfThere(readFile, USUAL_CONFIG_FILE);
    return usual === undefined
      ? { path: SHIPPED_CONFIG_FILE, text: readText(readFile, SHIPPED_CONFIG_FILE) }
      : { path: USUAL_CONFIG_FILE, text: usual };
  });
  const file = found === undefined ? undefined : readCoordinatorFile(found.text, found.path, faults);
  if (file !== undefined) checkReferences(file, faults);
  return file;
}

type Catalogue = Pick<Settings, 'upstream' | 'providers' | 'models' | 'tiers'>;

/** What the file says about providers and models, as far as that part of it is without faults. */
function catalogueOf(file: CoordinatorFile | undefined, context: BootContext): Catalogue {
  const { faults, reader, notices, now } = context;
  reader.value(SERVER.upstream);
  const tiers = { free: [], pro: [], enterprise: [] };
  if (file === undefined || faults.hasUnder('providers'))
    return { upstream: 'simulator', providers: [], models: [], tiers };
  const providers = file.providers.map((provider, index) => providerSettings(provider, index, context));
  const upstream = upstreamOf(providers, context);
  if (faults.hasUnder('models') || faults.hasUnder('tiers')) return { upstream, providers, models: [], tiers };
  const models = file.models.map((model, index) => modelSettings(model, index, faults));
  if (upstream === 'providers') notices.push(...lifecycleNotices(models, providers, now));
  return { upstream, providers, models, tiers: plain(file.tiers) };
}

/** A section of the file that is without faults. */
function sectionOf<Name extends 'attempts' | 'cache' | 'ledger' | 'conversations'>(
  file: CoordinatorFile | undefined,
  name: Name,
  faults: Faults,
): CoordinatorFile[Name] | undefined {
  return faults.hasUnder(name) ? undefined : file?.[name];
}

function callersOf(file: CoordinatorFile | undefined, context: BootContext): readonly CallerSettings[] {
  const { faults, reader } = context;
  if (file !== undefined && !faults.hasUnder('callers') && !faults.hasUnder('issuers'))
    return callerSettings(file.callers, callersNamedBy(file.issuers), context);
  reader.value(SERVER.callerKeys);
  return [];
}

/** Where callers or issuers have faults, what they say of each other is not looked at. */
function issuersOf(
  file: CoordinatorFile | undefined,
  callers: readonly CallerSettings[],
  faults: Faults,
): readonly IssuerSettings[] {
  if (file === undefined || ['callers', 'issuers', 'CALLER_KEYS'].some((path) => faults.hasUnder(path))) return [];
  return issuerSettings(file.issuers, callers, faults);
}

function knownNames(file: CoordinatorFile | undefined): readonly string[] {
  const named = file?.providers.flatMap((provider) => [
    ...keyVariablesOf(provider).flatMap((variable) => [variable, `${variable}_FILE`]),
    ...variablesIn(provider.baseUrl),
  ]);
  return [...namesOf(ENVIRONMENT_TABLE), ...(named ?? [])];
}
