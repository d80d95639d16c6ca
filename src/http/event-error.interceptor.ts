import { type CallHandler, type ExecutionContext, HttpException, type NestInterceptor } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, type Observable, throwError } from 'rxjs';
import { errorBody, errorStatus } from './error-body.js';
import type { ErrorFilter } from './error.filter.js';

/** Where Nest notes that a route sends events, and what intercepts a controller's routes; it exports no names for them. */
const SSE_METADATA = '__sse__';
const INTERCEPTORS_METADATA = '__interceptors__';

/**
 * Puts an interceptor in front of those controllers that send events. To be called before `app.init()`. No global one: on Node 20 what Nest
 * binds for each interceptor keeps the whole request alive until the next full garbage collection.
 */
export function endEventsWithErrors(modules: ModulesContainer, filter: Pick<ErrorFilter, 'answerTo'>): void {
  const interceptor = new EventErrorInterceptor(filter);
  for (const { controllers } of modules.values()) {
    for (const { metatype } of controllers.values()) {
      if (metatype === null || !sendsEvents(metatype)) continue;
      const known: unknown = Reflect.getOwnMetadata(INTERCEPTORS_METADATA, metatype);
      // An application that was made before, of the same controllers, has read them by now.
      const isOther = (each: unknown): boolean => !(each instanceof EventErrorInterceptor);
      const others: readonly unknown[] = Array.isArray(known) ? known.filter(isOther) : [];
      Reflect.defineMetadata(INTERCEPTORS_METADATA, [interceptor, ...others], metatype);
    }
  }
}

function sendsEvents({ prototype }: { readonly prototype: object }): boolean {
  return new MetadataScanner().getAllMethodNames(prototype).some((name) => {
    const method: unknown = Reflect.get(prototype, name);
    return typeof method === 'function' && Reflect.hasMetadata(SSE_METADATA, method);
  });
}

/**
 * Makes the last event of a stream that fails what any other answer would be: `event: error` with the error object as its data.
 * Nest writes it, but of an error that is no HttpException it says nothing. Before the first byte the error filter answers.
 */
export class EventErrorInterceptor implements NestInterceptor {
  constructor(private readonly filter: Pick<ErrorFilter, 'answerTo'>) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const answer = next.handle();
    if (!Reflect.hasMetadata(SSE_METADATA, context.getHandler())) return answer;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return answer.pipe(
      catchError((error: unknown) =>
        throwError(() => (reply.raw.headersSent ? this.#lastEvent(error, request) : error)),
      ),
    );
  }

  #lastEvent(error: unknown, request: FastifyRequest): HttpException {
    const answer = this.filter.answerTo(error, request);
    return new HttpException(JSON.stringify(errorBody(answer)), errorStatus(answer), { cause: error });
  }
}
