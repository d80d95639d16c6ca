import { Controller, Get, Header, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/index.js';
import { ReadinessService, type ReadinessReport } from './readiness.service.js';

const ALIVE = Object.freeze({ status: 'ok' });

@ApiTags('health')
@Public()
@Controller()
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** Alive: the event loop runs. Asks nothing and nobody, so that no outage elsewhere restarts pods. */
  @Get('health')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Liveness: the process answers', security: [] })
  @ApiOkResponse({ schema: { example: ALIVE } })
  health(): typeof ALIVE {
    return ALIVE;
  }

  @Get('ready')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Readiness: this pod takes requests; upstreams are listed but never decide', security: [] })
  @ApiOkResponse({ description: 'Ready.' })
  @ApiServiceUnavailableResponse({ description: 'Booting, draining, or the store is away and calls would be refused.' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessReport['body']> {
    const { isReady, body } = await this.readiness.report();
    reply.status(isReady ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return body;
  }
}
