import type { IncomingMessage } from 'node:http';
import { ProviderError } from '../provider.error.js';

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

/** @throws ProviderError 400 in OpenAI's wording. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const hint = "This likely means you aren't using your HTTP library correctly. The API expects a JSON payload.";
    throw new ProviderError(400, `We could not parse the JSON body of your request. (HINT: ${hint})`);
  }
}
