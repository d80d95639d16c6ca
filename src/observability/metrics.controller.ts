import { Controller, Get, Header, SetMetadata } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { METRICS_CONTENT_TYPE, MetricsPage } from './metrics.page.js';

const EXAMPLE = `# HELP coordinator_http_requests_total Requests that are over; a client that left counts as 4xx.
# TYPE coordinator_http_requests_total counter
coordinator_http_requests_total{method="GET",route="/v1/models",status="2xx"} 1
`;

/**
 * `GET /metrics` on the main port. It is public, as Prometheus expects: the page holds counts by route, model and caller id, and
 * no content or key. Where even these should not be seen from where callers come from, METRICS_PORT moves it to a port of its own.
 */
@ApiTags('operations')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly page: MetricsPage) {}

  @Get()
  // The mark of a public route; by value, since http/ owns the decorator and this module imports nothing from there.
  @SetMetadata('coordinator:public', true)
  @Header('content-type', METRICS_CONTENT_TYPE)
  @ApiOperation({ operationId: 'getMetrics', summary: 'Metrics in the Prometheus text format', security: [] })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format 0.0.4.', schema: { type: 'string' }, example: EXAMPLE })
  read(): Promise<string> {
    return this.page.render();
  }
}
