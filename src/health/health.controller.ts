import { Controller, Get, Header, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/index.js';
import { Liveness, NOT_READY_EXAMPLE, Readiness, READY_EXAMPLE } from './health.dto.js';
import { ReadinessService, type ReadinessReport } from './readiness.service.js';

const ALIVE = Object.freeze({ status: 'ok' });

@ApiTags('operations')
@Controller()
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** Alive: the event loop runs. Asks nothing and nobody, so that no outage elsewhere restarts pods. */
  @Public()
  @Get('health')
  @Header('cache-control', 'no-store')
  @ApiOperation({ operationId: 'getHealth', summary: 'Liveness: the process answers', security: [] })
  @ApiOkResponse({ type: Liveness, description: 'Alive.', example: ALIVE })
  health(): typeof ALIVE {
    return ALIVE;
  }

  @Public()
  @Get('ready')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Readiness: this pod takes requests; upstreams are listed but never decide',
    security: [],
  })
  @ApiOkResponse({ type: Readiness, description: 'Ready.', example: READY_EXAMPLE })
  @ApiServiceUnavailableResponse({
    type: Readiness,
    description: 'Booting, draining, or the store is away and calls would be refused.',
    example: NOT_READY_EXAMPLE,
  })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessReport['body']> {
    const { isReady, body } = await this.readiness.report();
    reply.status(isReady ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return body;
  }
}
