import type { BootContext } from '../boot-context.js';
import { SERVICE_VARIABLES, namesOf } from '../environment/environment.table.js';
import { googleCredentials } from '../environment/google-credentials.js';
import { token } from '../environment/parsers.js';
import type { ProviderFile } from './provider.file.js';

/** A key and the environment variable that it came from. */
export interface ProviderKey {
  readonly variable: string;
  readonly key: string;
}

/** The variables that may hold a key, in order. */
export function keyVariablesOf({ keyVariable }: Pick<ProviderFile, 'keyVariable'>): readonly string[] {
  return typeof keyVariable === 'string' ? [keyVariable] : keyVariable;
}

/**
 * The keys that are set. Faults are noted for variables that are this service's own or named twice, and for a key that is set
 * twice: its quota would be counted twice.
 */
export function providerKeys(file: ProviderFile, path: string, context: BootContext): readonly ProviderKey[] {
  const { faults } = context;
  const variables = keyVariablesOf(file);
  const keys: ProviderKey[] = [];
  variables.forEach((variable, index) => {
    const at = `${path}.keyVariable${typeof file.keyVariable === 'string' ? '' : `[${String(index)}]`}`;
    if (namesOf(SERVICE_VARIABLES).includes(variable)) {
      faults.add(at, `must not be ${variable}, which this service uses itself`);
      return;
    }
    const earlier = variables.indexOf(variable);
    if (earlier < index) {
      faults.add(at, `"${variable}" is taken by ${path}.keyVariable[${String(earlier)}]`);
      return;
    }
    const key = keyIn(variable, file, context);
    if (key === undefined) return;
    const twin = keys.find((other) => other.key === key);
    if (twin !== undefined) faults.add(variable, `holds the same key as ${twin.variable}`);
    keys.push({ variable, key });
  });
  return keys;
}

function keyIn(variable: string, { kind }: ProviderFile, { reader, faults }: BootContext): string | undefined {
  const key = reader.secret(variable);
  // A fault here would name the file's path; what has to be corrected is the variable.
  return key === undefined
    ? undefined
    : faults.parse(variable, () => (kind === 'vertex' ? googleCredentials(key) : token(key)));
}
