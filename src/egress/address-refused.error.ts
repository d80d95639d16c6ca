import type { AddressKind } from './address.kind.js';

/** A server was not connected to because of the address that its name has. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
  readonly code = 'ERR_ADDRESS_REFUSED';

  constructor(
    readonly host: string,
    readonly address: string,
    kind: Exclude<AddressKind, 'public'>,
  ) {
    super(
      kind === 'private'
        ? `${host} has the private address ${address}: set allowPrivate: true in coordinator.yaml if that is meant`
        : `${host} has the address ${address}, which is never connected to`,
    );
  }
}
