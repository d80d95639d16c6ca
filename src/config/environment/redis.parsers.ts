import { ValueError } from '../configuration-error.js';
import type { Address } from '../settings.js';
import { host, list, port } from './parsers.js';

/** What a Redis URL says; undefined: it does not say. */
export interface RedisUrl {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
}

const URL_FORM = 'must be redis[s]://[user:password@]host[:port][/db], with special characters percent-encoded';
/** The largest database number accepted; Redis has 16 unless configured otherwise. */
export const LARGEST_DB = 999;

/** `redis://` or, with TLS, `rediss://`. */
export function redisUrl(text: string): RedisUrl {
  if (!URL.canParse(text)) throw new ValueError(URL_FORM);
  const url = new URL(text);
  // Options behind ? would be ignored, and # is mostly an unencoded character of a password.
  if (!/^rediss?:$/.test(url.protocol) || url.hostname === '' || url.search + url.hash !== '')
    throw new ValueError(URL_FORM);
  return {
    host: decoded(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 6379 : Number(url.port),
    tls: url.protocol === 'rediss:',
    ...(url.username === '' ? {} : { username: decoded(url.username) }),
    ...(url.password === '' ? {} : { password: decoded(url.password) }),
    ...database(url.pathname),
  };
}

function database(path: string): { db?: number } {
  const digits = path.replace(/^\//, '');
  if (!/^\d{0,3}$/.test(digits)) throw new ValueError(URL_FORM);
  return digits === '' ? {} : { db: Number(digits) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw new ValueError(URL_FORM);
    throw error;
  }
}

/** A parser for `host:port,host,[v6]:port`; a host without a port gets the usual one. */
export function addresses(usualPort: number): (text: string) => readonly Address[] {
  return (text) => {
    const found = list(text).map((item) => address(item, usualPort));
    if (found.length === 0) throw new ValueError('must be host:port,host:port,…');
    return found;
  };
}

function address(item: string, usualPort: number): Address {
  const [, name, digits] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(item) ?? [];
  if (name === undefined) throw new ValueError('must be host:port,host:port,… (IPv6 addresses in brackets)');
  return { host: host(name), port: digits === undefined ? usualPort : port(digits) };
}

/** True for what Kubernetes puts into `<SERVICE>_PORT` of every pod when a Service is called `redis`. */
export function isServiceLink(text: string | undefined): boolean {
  return /^(tcp|udp):\/\//.test(text ?? '');
}

/** A port, or 6379 where Kubernetes has put a service link into the variable. */
export function redisPort(text: string): number {
  return isServiceLink(text) ? 6379 : port(text);
}

/** In front of every key: no braces (they choose the cluster slot), no glob characters, no spaces. */
export function keyPrefix(text: string): string {
  if (!/^[\w:.-]{1,64}$/.test(text)) throw new ValueError('must be at most 64 letters, digits and : . _ -');
  return text;
}
