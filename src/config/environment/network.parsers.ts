import { isIP } from 'node:net';
import { ValueError } from '../configuration-error.js';
import { isOrigin } from '../origin.js';
import { list, toggle } from './parsers.js';

/** `*`, or browsers' origins exactly as they send them: scheme, host, port, and nothing behind. */
export function corsOrigins(text: string): readonly string[] {
  const origins = list(text);
  if (origins.includes('*') && origins.length > 1) throw new ValueError('must be either * alone or a list of origins');
  const wrong = origins.flatMap((origin, index) => (origin === '*' || isOrigin(origin) ? [] : [index]));
  if (wrong.length > 0)
    throw new ValueError(
      wrong
        .map((index) => `[${String(index)}]: must be an origin such as https://app.example.com, without a path`)
        .join('\n'),
    );
  return origins;
}

const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** Fastify's trustProxy: true or false, a number of hops, or the proxies' addresses, CIDR ranges and named ranges. */
export function trustProxy(text: string): boolean | number | readonly string[] {
  // 1 is one hop, not "true".
  if (/^\d{1,3}$/.test(text)) return text === '0' ? false : Number(text);
  if (/^[a-z]+$/i.test(text) && !NAMED_RANGES.includes(text)) return toggle(text);
  const proxies = list(text);
  if (proxies.length === 0 || !proxies.every(isRange)) {
    throw new ValueError(
      'must be true, false, a number of hops, or addresses and CIDR ranges such as 10.0.0.0/8,127.0.0.1',
    );
  }
  return proxies;
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return NAMED_RANGES.includes(text);
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
