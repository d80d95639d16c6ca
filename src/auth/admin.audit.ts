import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AUTH_OPTIONS, type AuthModuleOptions } from './auth.module-definition.js';
import type { Caller } from './caller.js';
import { clientAddress } from './client-address.js';

/** What a handler adds to the line of an act: flat, short, never a secret. */
export type ActFacts = Readonly<Record<string, string | number | boolean | undefined>>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Written by `addActFacts()`. */
    actFacts?: ActFacts;
    /** Set once the request's act is written down, or will be. */
    isAudited?: boolean;
  }
}

/** How an act ended. */
export interface ActEnd {
  readonly result: 'done' | 'refused' | 'failed';
  /** The error's code, where there is one. */
  readonly code?: string;
}

/** Adds to the line that is written of what an operator does with this request: on what, and to what effect. */
export function addActFacts(request: FastifyRequest, facts: ActFacts): void {
  request.actFacts = { ...request.actFacts, ...facts };
}

/** Writes one line of the log for each act of an operator: who, from where, what, and how it ended. */
@Injectable()
export class AdminAudit {
  constructor(@Inject(AUTH_OPTIONS) private readonly options: AuthModuleOptions) {}

  /** At `warn` where something may have been changed or was refused, at `info` where it was only looked at. */
  write(request: FastifyRequest, caller: Caller, { result, code }: ActEnd): void {
    const isHarmless = result !== 'refused' && (request.method === 'GET' || request.method === 'HEAD');
    this.options.logger?.[isHarmless ? 'info' : 'warn'](
      {
        ...request.actFacts,
        act: `${request.method} ${request.routeOptions.url ?? ''}`,
        result,
        ...(code !== undefined && { code }),
        caller: caller.id,
        ...caller.user,
        address: clientAddress(request),
        request_id: request.id,
      },
      'admin act',
    );
  }
}
