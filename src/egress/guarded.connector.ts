import { lookup as dnsLookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIPv4, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { addressKind } from './address.kind.js';
import { AddressRefusedError } from './address-refused.error.js';
import { addressIn, isPrivateName } from './private.names.js';

export interface GuardOptions {
  /** TCP and TLS, ms; 0: undici's own limit. */
  readonly connectMs?: number;
  /** Hosts that may have private addresses although nothing in their names says so. Default: none. */
  readonly privateHosts?: ReadonlySet<string>;
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  readonly resolve?: Resolve;
}

type Resolve = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Connects to public addresses, and to private ones where the URL's host means them. What counts is the address that is connected
 * to, not one that was looked up before: a name that resolves to something else the next time gains nothing.
 *
 * A name with addresses of both kinds is reached at those that are allowed; one with none of them is an AddressRefusedError.
 */
export function guardedConnector({
  connectMs,
  privateHosts = new Set(),
  resolve = dnsLookup,
}: GuardOptions): buildConnector.connector {
  const isAllowed = (host: string, address: string): boolean => {
    const kind = addressKind(address);
    return kind === 'public' || (kind === 'private' && (isPrivateName(host) || privateHosts.has(host)));
  };
  const connect = buildConnector({
    ...(connectMs !== undefined && connectMs > 0 && { timeout: connectMs }),
    lookup: guardedLookup(resolve, isAllowed),
  });
  return (options, callback) => {
    // An address is connected to without a look-up.
    const address = addressIn(options.hostname);
    if (address !== undefined && !isAllowed(options.hostname, address))
      callback(refusal(options.hostname, address), null);
    else connect(options, callback);
  };
}

function guardedLookup(resolve: Resolve, isAllowed: (host: string, address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        done(error, '', 0);
        return;
      }
      const allowed = addresses.filter(({ address }) => isAllowed(host, address));
      const [first] = allowed;
      if (first === undefined) done(refusal(host, addresses[0]?.address ?? ''), '', 0);
      else if (options.all === true) done(null, allowed);
      else done(null, first.address, isIPv4(first.address) ? 4 : 6);
    });
  };
}

function refusal(host: string, address: string): AddressRefusedError {
  return new AddressRefusedError(host, address, addressKind(address) === 'private' ? 'private' : 'never');
}
