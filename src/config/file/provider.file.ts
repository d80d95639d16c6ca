import { PROVIDER_KINDS, type ProviderKind } from '../settings.js';
import { listOf, oneOf, pattern, text, textLike, toggle } from './checks.js';
import { type Check, Optional, Required } from './shape.js';

const keyVariable = textLike(
  /^[A-Z][A-Z0-9_]{0,127}(?<!_FILE)$/,
  'the name of an environment variable, such as OPENAI_API_KEY, not ending in _FILE',
);

/** One name, or a list of at least one. */
const keyVariables: Check = (value) => {
  if (!Array.isArray(value)) return keyVariable(value);
  return value.length === 0 ? 'must name at least one environment variable' : listOf(keyVariable)(value);
};

/** Under `baseUrl`, whatever a server makes of dots: the key goes there. */
const usagePath = textLike(/^(\/(?!\.{1,2}(\/|$))[\w.-]+)+\/?$/, 'a path such as /usage, without . and .. in it');

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

  /**
   * The environment variable with the key, or several, each with a key of its own; with `_FILE` behind it, the name of a file that
   * holds it.
   */
  @Required(keyVariables)
  keyVariable!: string | string[];

  /** Where under `baseUrl` the key's tier and remaining quota are told; without it the key is unrestricted. */
  @Optional(usagePath)
  usagePath?: string;

  /** Azure's URLs before its v1 API: `/openai/deployments/<model>/…` under `baseUrl`, the resource's endpoint. */
  @Optional(toggle)
  deploymentUrls = false;

  /** The `api-version` of those URLs; left out, the last one that was generally available. */
  @Optional(textLike(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'a version such as 2024-10-21 or 2025-01-01-preview'))
  apiVersion?: string;

  /**
   * Regular expressions, case-insensitive, by which its refusal of a prompt that is too long is known where its words are none of the
   * usual ones.
   */
  @Optional(listOf(pattern))
  contextErrorPatterns: string[] = [];

  /** The host of `baseUrl` may have a private address although nothing in its name says so: a private endpoint of a cloud's. */
  @Optional(toggle)
  allowPrivate = false;
}
