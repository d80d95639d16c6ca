import { type CallHandler, type ExecutionContext, HttpException, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, type Observable, throwError } from 'rxjs';
import { errorBody, errorStatus } from './error-body.js';
import type { ErrorFilter } from './error.filter.js';

/** Where Nest notes that a route sends events; it exports no name for it. */
const SSE_METADATA = '__sse__';

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
