import { Catch, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from './api-error.js';
import { ClientGoneError } from './client-gone.error.js';
import { sendError } from './error-reply.js';
import { isError } from './is-error.js';
import { routeNotFound } from './route-table.js';
import { STATUS_TABLE, type ErrorCode, type StatusRow } from './status-table.js';
import { toApiError } from './to-api-error.js';

/** Where errors go whose own words the client does not get: those that nobody foresaw, and those of the store and of lost locks. */
export type ErrorReport = (error: unknown, request: FastifyRequest, code: ErrorCode) => void;

export interface ErrorFilterOptions {
  readonly report: ErrorReport;
  /** Named in a 413, bytes. */
  readonly bodyLimitBytes: number;
}

/** The one place where a thrown value becomes an answer. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const isUnheard = reply.raw.destroyed || request.raw.socket.destroyed;
    const answer = isUnheard && isAboutLeaving(error) ? this.#answerTo(error, request) : this.answerTo(error, request);
    if (isUnheard) return;
    if (reply.sent || reply.raw.headersSent) {
      // Half an answer is out: only a broken connection tells the client that the rest won't come.
      if (!reply.raw.writableEnded) reply.raw.destroy();
      return;
    }
    sendError(reply, answer);
  }

  /** What the client gets to read; what it doesn't is reported. */
  answerTo(error: unknown, request: FastifyRequest): ApiError {
    const answer = this.#answerTo(error, request);
    if (isWithheld(error, answer)) this.options.report(error, request, answer.code);
    return answer;
  }

  #answerTo(error: unknown, request: FastifyRequest): ApiError {
    // Nest's own text would quote the query string.
    if (request.is404 && error instanceof NotFoundException)
      return routeNotFound(request.method, request.raw.url ?? '');
    return toApiError(error, { requestId: request.id, bodyLimitBytes: this.options.bodyLimitBytes });
  }
}

/** Whether the log is the only place that learns what went wrong here. Who meets a busy lock is told enough by the code. */
function isWithheld(error: unknown, answer: ApiError): boolean {
  if (answer.code === 'internal_error') return true;
  const { status, text }: StatusRow = STATUS_TABLE[answer.code];
  return error !== answer && text !== undefined && status >= 500;
}

/** Whether an error only says what a closed connection does to the work in hand. */
function isAboutLeaving(error: unknown): boolean {
  if (error instanceof ClientGoneError) return true;
  if (!isError(error)) return false;
  return (
    error.name === 'AbortError' ||
    ('code' in error && (error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE'))
  );
}
