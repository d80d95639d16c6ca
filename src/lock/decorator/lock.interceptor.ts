import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { finalize, Observable, of, tap } from 'rxjs';
import { runInLease } from '../current-lease.js';
import type { Lease } from '../lease.js';
import { LockOptionsError } from '../lock.errors.js';
import { LockService } from '../lock.service.js';
import { takeLock } from './busy.options.js';
import { OpenAnswer } from './open-answer.js';
import { REQUEST_LOCK, type RequestLockRule } from './request-lock.decorator.js';
import { answerNothing } from './skip.answer.js';

/**
 * Holds the lock that `@RequestLock()` names for a whole request: from before the handler until the last byte of the answer is handed
 * over, or the client has gone; streams, files and answers that the handler writes itself included. A client that leaves while it
 * waits for the lock leaves the queue. Outside HTTP: until the handler's result ends. The handler finds its lease by
 * `currentLease()`; one that streams watches its `signal`, since a lock that is lost can't call back what was sent.
 *
 * Every route that it stands on needs a `@RequestLock()`: one without fails, rather than run unlocked.
 */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  constructor(
    private readonly locks: LockService,
    private readonly reflector: Reflector,
  ) {}

  /** @throws what `LockService.withLock()` throws */
  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const rule = this.#ruleFor(context);
    return context.getType() === 'http' ? this.#lockAnswer(rule, context, next) : this.#lockResult(rule, context, next);
  }

  async #lockAnswer(rule: RequestLockRule, context: ExecutionContext, next: CallHandler<unknown>) {
    const answer = new OpenAnswer(context);
    const lease = await this.#take(rule, context, answer.signal);
    if (lease === undefined) {
      answerNothing(context);
      return of(undefined);
    }
    // It came in the moment in which the client left, so nothing is done under it.
    if (answer.signal.aborted) await lease.giveBack();
    answer.signal.throwIfAborted();
    answer.onEnd(() => {
      void lease.release();
    });
    return inside(lease, next);
  }

  async #lockResult(rule: RequestLockRule, context: ExecutionContext, next: CallHandler<unknown>) {
    const lease = await this.#take(rule, context);
    if (lease === undefined) return of(undefined);
    return inside(lease, next).pipe(
      finalize(() => {
        void lease.release();
      }),
    );
  }

  #take(
    { key, options }: RequestLockRule,
    context: ExecutionContext,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    const keys = key(context.getArgByIndex<never>(0));
    return takeLock(this.locks, { keys, options, ...(signal !== undefined && { signal }) });
  }

  #ruleFor(context: ExecutionContext): RequestLockRule {
    const [handler, controller] = [context.getHandler(), context.getClass()];
    const rule = this.reflector.getAllAndOverride<RequestLockRule | undefined>(REQUEST_LOCK, [handler, controller]);
    const title = `${controller.name}.${handler.name}`;
    if (rule === undefined)
      throw new LockOptionsError(`${title}() is under LockInterceptor, but has no @RequestLock()`);
    const { template = title } = rule.options;
    return { key: rule.key, options: { ...rule.options, template } };
  }
}

/** What the handler does when it is called, and what its Observable does when it is subscribed to; fails if the lock was lost. */
function inside(lease: Lease, next: CallHandler<unknown>): Observable<unknown> {
  return new Observable((subscriber) => runInLease(lease, () => next.handle().subscribe(subscriber))).pipe(
    tap((result) => {
      lease.throwIfLost(result);
    }),
  );
}
