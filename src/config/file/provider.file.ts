import { PROVIDER_KINDS, type ProviderKind } from '../settings.js';
import { oneOf, text, textLike } from './checks.js';
import { Optional, Required } from './shape.js';

/** Somebody who answers completions. */
export class ProviderFile {
  /** What deployments and `x-coordinator-provider` call it. */
  @Required(textLike(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a name of lower-case letters, digits, _ and -'))
  name!: string;

  /** Which protocol it speaks. */
  @Required(oneOf(PROVIDER_KINDS))
  kind!: ProviderKind;

  /** With its version path; `${VARIABLE}` and `${VARIABLE:-default}` stand for environment variables. */
  @Required(text)
  baseUrl!: string;

  /** The environment variable with the key, or with `_FILE` behind it, the name of a file that holds it. */
  @Required(
    textLike(
      /^[A-Z][A-Z0-9_]{0,127}(?<!_FILE)$/,
      'the name of an environment variable, such as OPENAI_API_KEY, not ending in _FILE',
    ),
  )
  keyVariable!: string;

  /** Where under `baseUrl` the key's tier and remaining quota are told; without it the key is unrestricted. */
  @Optional(textLike(/^\/[\w./-]*$/, 'a path such as /usage'))
  usagePath?: string;
}
