import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller.js';
import { ConfigurableModuleClass } from './health.module-definition.js';
import { ReadinessService } from './readiness.service.js';

/**
 * `GET /health` and `GET /ready`.
 * @example HealthModule.forRootAsync({ inject: [Drain], useFactory: (drain: Drain) => ({ phase: …, store: …, upstreams: … }) })
 */
@Module({
  // Terminus would log every probe of a pod that isn't ready.
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [ReadinessService],
})
export class HealthModule extends ConfigurableModuleClass {}
