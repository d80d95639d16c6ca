import { Observable } from 'rxjs';

/** How a method answers; unknown: it can be seen only in the answer. */
export type ReturnKind = 'promise' | 'observable' | 'async-iterable' | 'unknown';

// The runtime has no names for these.
const AsyncFunction = (async () => Promise.resolve(1)).constructor;
const AsyncGeneratorFunction = async function* () {
  yield await Promise.resolve(1);
}.constructor;

/** Read off the function itself, or else off the return type that the compiler emits beside it. */
export function returnKindOf(method: object, target: object, name: string | symbol): ReturnKind {
  if (method instanceof AsyncFunction) return 'promise';
  if (method instanceof AsyncGeneratorFunction) return 'async-iterable';
  const declared: unknown = Reflect.getMetadata('design:returntype', target, name);
  if (declared === Promise) return 'promise';
  return declared === Observable ? 'observable' : 'unknown';
}
