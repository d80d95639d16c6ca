export { type AddressKind, addressKind } from './address.kind.js';
export { AddressRefusedError } from './address-refused.error.js';
export { guardedConnector, type GuardOptions } from './guarded.connector.js';
export { addressIn, isPrivateName } from './private.names.js';
