import { addressIn, addressKind } from '../../egress/index.js';
import { ValueError } from '../configuration-error.js';

const PLACE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The environment variables that a template names, `${NAME}` or `${NAME:-default}`. */
export function variablesIn(template: string): readonly string[] {
  return [...template.matchAll(PLACE)].map(([, name = '']) => name);
}

/** Those of them that have neither a value nor a default. */
export function missingIn(template: string, valueOf: (name: string) => string | undefined): readonly string[] {
  return [...template.matchAll(PLACE)].flatMap(([, name = '', initial]) =>
    initial === undefined && valueOf(name) === undefined ? [name] : [],
  );
}

/**
 * The URL with the variables put in and without a trailing slash. What is missing stays as it is written, and the URL
 * unchecked, because nobody will call it.
 *
 * @throws ValueError when the result is no plain http(s) URL
 */
export function resolveBaseUrl(template: string, valueOf: (name: string) => string | undefined): string {
  const filled = template.replace(
    PLACE,
    (place, name: string, initial: string | undefined) => valueOf(name) ?? initial ?? place,
  );
  // An endpoint may be given with its slash: no empty segment shall come of it.
  const url = filled
    .trim()
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/$/, '');
  if (missingIn(template, valueOf).length > 0) return url;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new ValueError(`must be an http or https URL${origin(template)}`);
  if (parsed.username + parsed.password !== '')
    throw new ValueError(`must hold no user and password: the key comes from keyVariable${origin(template)}`);
  if (parsed.search + parsed.hash !== '')
    throw new ValueError(`must end with its path, without ? and #${origin(template)}`);
  const address = addressIn(parsed.hostname);
  if (address !== undefined && addressKind(address) === 'never')
    throw new ValueError(
      `must not be ${address}: no provider has a link-local, metadata or reserved address${origin(template)}`,
    );
  return url;
}

function origin(template: string): string {
  const names = variablesIn(template);
  return names.length === 0 ? '' : `, also with the value of ${names.join(' and ')}`;
}
