import type { Observable } from 'rxjs';
import type { WithLockOptions } from './busy.options.js';

/** A method whose end can be told: a lock that is released before the work ends guards nothing. */
export type LockableMethod = (
  ...parameters: never[]
) => Promise<unknown> | Observable<unknown> | AsyncIterable<unknown>;

/** What a method must be like beside that; where it is not, the compiler's message says so. */
interface Fault<Message extends string> {
  readonly '@WithLock()': Message;
}

/** The key function is called with what the method is called with. */
type KeyFits<KeyParameters extends readonly unknown[], Method extends LockableMethod> = ((
  ...parameters: KeyParameters
) => unknown) extends (...parameters: Parameters<Method>) => unknown
  ? unknown
  : Fault<"the key function does not take the method's parameters">;

/** A skipped call gives undefined. */
type SkipFits<Options extends WithLockOptions, Method extends LockableMethod> = Options extends { onBusy: 'skip' }
  ? ReturnType<Method> extends Promise<infer Value>
    ? undefined extends Value
      ? unknown
      : Fault<"with onBusy: 'skip' the promise may be one of undefined">
    : unknown
  : unknown;

export type WithLockDecorator<KeyParameters extends readonly unknown[], Options extends WithLockOptions> = <
  Method extends LockableMethod,
>(
  prototype: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & KeyFits<KeyParameters, Method> & SkipFits<Options, Method>,
) => void;
