import { ApiError } from './api-error.js';

interface Route {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

const MAX_SHOWN_PATH = 200;

/** Which methods a path answers: Fastify's router knows only one method at a time, and a 405 needs them all. */
export class RouteTable {
  readonly #routes = new Map<string, Route>();

  /** Patterns as Fastify has them: static segments, `:param`, a last `*`. */
  add(method: string | readonly string[], pattern: string): void {
    // The bare `*` is the preflight's catch-all: it says nothing about any path.
    if (!pattern.startsWith('/')) return;
    const route = this.#routes.get(pattern) ?? { segments: pattern.split('/'), methods: new Set<string>() };
    for (const name of typeof method === 'string' ? [method] : method) route.methods.add(name);
    this.#routes.set(pattern, route);
  }

  /**
   * The methods of a path, sorted; empty for an unknown path. OPTIONS is among them: every known path answers it.
   * @throws ApiError `invalid_request` for a malformed percent-encoding
   */
  methodsAt(path: string): readonly string[] {
    const segments = path.split('/').map(decode);
    const methods = new Set<string>();
    for (const route of this.#routes.values()) {
      if (matches(route.segments, segments)) for (const method of route.methods) methods.add(method);
    }
    return methods.size === 0 ? [] : [...methods.add('OPTIONS')].sort();
  }
}

/** The path of a request target, without query; also of an absolute-form target (RFC 9112 section 3.2.2). */
export function pathOf(url: string): string {
  // What nearly every request has, and this is asked of every request.
  if (url.startsWith('/') && !url.includes('?') && !url.includes('#')) return url;
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path === '' ? '/' : path;
}

/** A path that nothing serves. Names the method and the path, never the query: it may hold a secret. */
export function routeNotFound(method: string, url: string): ApiError {
  return new ApiError('not_found', `no route for ${method} ${shownPath(url)}`);
}

/** A path that is served, but not by this method. */
export function methodNotAllowed(method: string, url: string, allowed: readonly string[]): ApiError {
  return new ApiError(
    'method_not_allowed',
    `${method} is not allowed on ${shownPath(url)}; allowed: ${allowed.join(', ')}`,
  );
}

function shownPath(url: string): string {
  const path = pathOf(url).replace(/[^\x21-\x7e]/g, '?');
  return path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}…` : path;
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const hasWildcard = pattern.at(-1) === '*';
  if (hasWildcard ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every((part, index) => {
    if (hasWildcard && index === pattern.length - 1) return true;
    const segment = segments[index];
    return part.startsWith(':') ? segment !== '' : segment === part;
  });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ApiError('invalid_request', 'the request path has a malformed percent-encoding', { cause });
  }
}
