import type { BootContext } from '../boot-context.js';
import { ENVIRONMENT_TABLE, SERVICE_VARIABLES, namesOf } from '../environment/environment.table.js';
import { credentials, token } from '../environment/parsers.js';
import type { ProviderSettings } from '../settings.js';
import { missingIn, resolveBaseUrl, variablesIn } from './base-url.js';
import type { ProviderFile } from './provider.file.js';

/** A provider with its key and its real URL; faults are noted with their path in the file or the variable's name. */
export function providerSettings(file: ProviderFile, index: number, context: BootContext): ProviderSettings {
  const { reader, faults } = context;
  const path = `providers[${String(index)}]`;
  const isOurs = namesOf(SERVICE_VARIABLES).includes(file.keyVariable);
  if (isOurs) faults.add(`${path}.keyVariable`, `must not be ${file.keyVariable}, which this service uses itself`);
  const apiKey = isOurs ? undefined : keyOf(file, context);
  const valueOf = (name: string) => reader.plain(name);
  const missing = missingIn(file.baseUrl, valueOf);
  const secrets = secretsIn(file, context);
  if (secrets.length > 0)
    faults.add(`${path}.baseUrl`, `must not contain ${secrets.join(', ')}: URLs are shown in logs`);
  if (apiKey !== undefined && missing.length > 0)
    faults.add(`${path}.baseUrl`, `needs ${missing.join(' and ')}, because ${file.keyVariable} is set`);
  const baseUrl = faults.parse(`${path}.baseUrl`, () => resolveBaseUrl(file.baseUrl, valueOf)) ?? '';
  return {
    name: file.name,
    kind: file.kind,
    baseUrl,
    keyVariable: file.keyVariable,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(file.usagePath === undefined ? {} : { usagePath: file.usagePath }),
  };
}

function keyOf({ keyVariable, kind }: ProviderFile, { reader, faults }: BootContext): string | undefined {
  const key = reader.secret(keyVariable);
  // A fault here would name the file's path; what has to be corrected is the variable.
  return key === undefined
    ? undefined
    : faults.parse(keyVariable, () => (kind === 'vertex' ? credentials(key) : token(key)));
}

/** The names in the URL that stand for a secret: a key in a URL ends up in logs. */
function secretsIn(file: ProviderFile, { reader }: BootContext): readonly string[] {
  const secrets = [...namesOf(ENVIRONMENT_TABLE.filter(({ isSecret }) => isSecret)), file.keyVariable];
  return variablesIn(file.baseUrl).filter((name) => secrets.includes(name) && reader.isSet(name));
}
