import { PROVIDER_VARIABLES } from './provider.variables.js';
import { SERVER_VARIABLES } from './server.variables.js';
import { STORE_VARIABLES } from './store.variables.js';
import { TELEMETRY_VARIABLES } from './telemetry.variables.js';
import type { EnvironmentVariable } from './variable.js';

/** What the service itself reads, whatever the file says. */
export const SERVICE_VARIABLES: readonly EnvironmentVariable[] = [
  ...Object.values(SERVER_VARIABLES),
  ...Object.values(STORE_VARIABLES),
  ...Object.values(TELEMETRY_VARIABLES),
];

/**
 * Every environment variable with its default and description: the one source of parsing, of `<NAME>_FILE` and of the
 * README's table.
 */
export const ENVIRONMENT_TABLE: readonly EnvironmentVariable[] = [...SERVICE_VARIABLES, ...PROVIDER_VARIABLES];

/** The names under which these variables may be set, `<NAME>_FILE` of secrets among them. */
export function namesOf(variables: readonly Pick<EnvironmentVariable, 'name' | 'isSecret'>[]): readonly string[] {
  return variables.flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name]));
}
