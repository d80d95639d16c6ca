/** Makes one function look like another: name, length, own properties and all metadata that decorators have put on it. */
export function dressAs<Wrapper extends object>(wrapper: Wrapper, method: object): Wrapper {
  for (const name of Reflect.ownKeys(method)) {
    const property = Object.getOwnPropertyDescriptor(method, name);
    if (property !== undefined && name !== 'prototype') Object.defineProperty(wrapper, name, property);
  }
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapper);
  }
  return wrapper;
}
