import type { IncomingMessage } from 'node:http';
import { isObject } from './json.checks.js';
import { ProviderError } from '../provider.error.js';

const MAX_DEPTH = 500;
const MAX_BYTES = 64 * 1_024 * 1_024;

/**
 * The whole body as text. Of a body over 64 MiB the rest is read and dropped.
 * @throws ProviderError 413; the request's own error when the client leaves.
 */
export function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
      }
    });
    request.once('error', reject);
    request.once('end', () => {
      if (bytes > MAX_BYTES) {
        reject(
          new ProviderError(
            413,
            `Maximum content size limit (${String(MAX_BYTES)}) exceeded (${String(bytes)} bytes read)`,
          ),
        );
      } else {
        resolve(Buffer.concat(chunks).toString('utf8'));
      }
    });
  });
}

/** @throws ProviderError 400 in OpenAI's wording, also where the nesting is deeper than any honest request's. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeep(value)) {
      throw new RangeError(`nested deeper than ${String(MAX_DEPTH)}`);
    }
    return value;
  } catch {
    const hint = "This likely means you aren't using your HTTP library correctly. The API expects a JSON payload.";
    throw new ProviderError(400, `We could not parse the JSON body of your request. (HINT: ${hint})`);
  }
}

/** JSON.parse takes any depth; what walks or writes the value by recursion does not. */
function isDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    level = level.flatMap(children);
  }
  return level.length > 0;
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    return value;
  }
  return isObject(value) ? Object.values(value) : [];
}
