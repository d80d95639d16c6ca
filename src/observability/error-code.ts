/** Longer bodies are no error of ours. */
const MAX_ERROR_BODY_LENGTH = 16_384;

/**
 * The `error.code` that a response tells its caller, read from the body itself: it is what was said, whoever said it, and no
 * module has to know about the log. Undefined where the body isn't in OpenAI's error shape.
 */
export function errorCodeOf(payload: unknown): string | undefined {
  if (typeof payload !== 'string' || payload.length > MAX_ERROR_BODY_LENGTH || !payload.startsWith('{'))
    return undefined;
  return codeIn(parse(payload));
}

function codeIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    // Not JSON, so not an error of ours, and nothing to add to the line.
    return undefined;
  }
}
