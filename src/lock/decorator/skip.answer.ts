import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { defaultIfEmpty, map, Observable } from 'rxjs';

/** Where Nest notes that a route sends events; it exports no name for it, so a spec compares. */
export const SSE_METADATA = '__sse__';

interface Note {
  isSkipped: boolean;
}

/** Answers a request with 204 where its handler was skipped. One for each decorated method; called from elsewhere, it is no request. */
export class SkipAnswer implements NestInterceptor {
  readonly #notes = new AsyncLocalStorage<Note>();

  /** This call, if a request made it, was skipped. */
  note(): void {
    const note = this.#notes.getStore();
    if (note !== undefined) note.isSkipped = true;
  }

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    if (context.getType() !== 'http' || isEventStream(context)) return next.handle();
    const note: Note = { isSkipped: false };
    // An Observable that the handler returns is subscribed to with the answer: that has to be inside, too.
    const answer = new Observable((subscriber) => this.#notes.run(note, () => next.handle().subscribe(subscriber)));
    return answer.pipe(
      defaultIfEmpty(undefined),
      map((value) => {
        if (!note.isSkipped) return value;
        answerNothing(context);
        return undefined;
      }),
    );
  }
}

/** The answer to a skipped request. */
export function answerNothing(context: ExecutionContext): void {
  // Fastify's and Express's alike.
  const response = context.switchToHttp().getResponse<{ status(code: number): unknown }>();
  response.status(204);
}

/** Its headers are out before the lock can be asked for. */
function isEventStream(context: ExecutionContext): boolean {
  return Reflect.hasMetadata(SSE_METADATA, context.getHandler());
}
