import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Observable, tap } from 'rxjs';
import { AdminAudit } from './admin.audit.js';

/** Has an operator's act written down once it is over, whatever became of it. */
@Injectable()
export class AdminAuditInterceptor implements NestInterceptor {
  constructor(private readonly audit: AdminAudit) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { caller } = request;
    // A method may ask for what its controller asks for too.
    if (caller === undefined || request.isAudited === true) return next.handle();
    request.isAudited = true;
    return next.handle().pipe(
      tap({
        complete: () => {
          this.audit.write(request, caller, { result: 'done' });
        },
        error: (error: unknown) => {
          this.audit.write(request, caller, { result: 'failed', ...codeOf(error) });
        },
      }),
    );
  }
}

function codeOf(error: unknown): { code?: string } {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? { code } : {};
}
