import { describe, expect, it } from '@jest/globals';
import { EMPTY, type Observable } from 'rxjs';
import { RequestLock, WithLock } from '../../../../src/lock/index.js';

// The compiler runs this test: a mistake that it does not report makes the comment above it an error.
class Typed {
  @WithLock('k')
  async promise(): Promise<void> {
    await Promise.resolve();
  }

  @WithLock('k')
  observable(): Observable<number> {
    return EMPTY;
  }

  @WithLock('k')
  async *generator(): AsyncGenerator<number> {
    yield await Promise.resolve(1);
  }

  // @ts-expect-error -- the lock would be free before the caller has the number
  @WithLock('k')
  value(): number {
    return 1;
  }

  // @ts-expect-error -- nobody can tell when this ends
  @WithLock('k')
  nothing(): void {
    return undefined;
  }

  // @ts-expect-error -- a generator that does not wait has nothing to wait for
  @WithLock('k')
  *steps(): Generator<number> {
    yield 1;
  }

  // @ts-expect-error -- only sometimes a promise
  @WithLock('k')
  sometimes(): Promise<number> | number {
    return 1;
  }

  @WithLock((id: string) => id)
  async sameParameter(id: string, amount: number): Promise<string> {
    return Promise.resolve(`${id}${amount}`);
  }

  @WithLock((id: string | undefined, amount: number) => `${String(id)}${amount}`)
  async widerParameter(id: string, amount: 1 | 2): Promise<string> {
    return Promise.resolve(`${id}${amount}`);
  }

  // @ts-expect-error -- the key is made of a number
  @WithLock((id: number) => `k:${id}`)
  async otherParameter(id: string): Promise<string> {
    return Promise.resolve(id);
  }

  // @ts-expect-error -- the key is made of more than there is
  @WithLock((id: string, amount: number) => `${id}${amount}`)
  async fewerParameters(id: string): Promise<string> {
    return Promise.resolve(id);
  }

  // @ts-expect-error -- the parameter may be missing
  @WithLock((id: string) => id)
  async optionalParameter(id?: string): Promise<string> {
    return Promise.resolve(String(id));
  }

  // @ts-expect-error -- a key is a text
  @WithLock((id: number) => id)
  async wrongKey(id: number): Promise<number> {
    return Promise.resolve(id);
  }

  @WithLock('k', { onBusy: 'skip' })
  async skippable(): Promise<number | undefined> {
    return Promise.resolve(1);
  }

  @WithLock('k', { onBusy: 'skip' })
  async skippableVoid(): Promise<void> {
    await Promise.resolve();
  }

  @WithLock('k', { onBusy: 'skip' })
  skippableStream(): Observable<number> {
    return EMPTY;
  }

  // @ts-expect-error -- its callers count on a number
  @WithLock('k', { onBusy: 'skip' })
  async unskippable(): Promise<number> {
    return Promise.resolve(1);
  }

  // @ts-expect-error -- one signal for all calls would end them all
  @WithLock('k', { signal: new AbortController().signal })
  async withSignal(): Promise<void> {
    await Promise.resolve();
  }
}

class Requests {
  @RequestLock((request: { readonly id: string }) => `request:${request.id}`)
  annotated(): string {
    return 'done';
  }

  @RequestLock<{ readonly id: string }>((request) => [`request:${request.id}`, 'all'])
  given(): string {
    return 'done';
  }

  // @ts-expect-error -- nobody said what the request is like
  @RequestLock((request) => `request:${request.id}`)
  unknown(): string {
    return 'done';
  }

  // @ts-expect-error -- a key is a text
  @RequestLock((request: { readonly id: number }) => request.id)
  wrongKey(): string {
    return 'done';
  }
}

// Refused when it runs, too.
const otherChoice = (): unknown => {
  class Wrong {
    // @ts-expect-error -- no such choice
    @WithLock('k', { onBusy: 'queue' })
    async work(): Promise<void> {
      await Promise.resolve();
    }
  }
  return Wrong;
};

describe('the types of @WithLock()', () => {
  it('are checked by the compiler', () => {
    expect(Typed.prototype.promise.name).toBe('promise');
    expect(new Requests().given()).toBe('done');
    expect(otherChoice).toThrow('onBusy must be wait, fail or skip, not queue');
  });
});
