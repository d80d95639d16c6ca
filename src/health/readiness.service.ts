import { Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { HEALTH_OPTIONS } from './health.module-definition.js';
import type { HealthOptions, UpstreamState } from './health.options.js';
import { phaseReadiness, storeReadiness } from './readiness.js';

export interface ReadinessReport {
  readonly isReady: boolean;
  readonly body: Pick<HealthCheckResult, 'status' | 'details'> & { readonly upstreams: readonly UpstreamState[] };
}

@Injectable()
export class ReadinessService {
  constructor(
    private readonly checks: HealthCheckService,
    @Inject(HEALTH_OPTIONS) private readonly options: HealthOptions,
  ) {}

  /** Whether this pod should get requests, and why not. No I/O. */
  async report(): Promise<ReadinessReport> {
    const { status, details } = await this.#check();
    return { isReady: status === 'ok', body: { status, details, upstreams: this.options.upstreams() } };
  }

  async #check(): Promise<Pick<HealthCheckResult, 'status' | 'details'>> {
    const { phase, store } = this.options;
    try {
      return await this.checks.check([() => phaseReadiness(phase()), () => storeReadiness(store())]);
    } catch (error) {
      // Terminus says "not ready" by throwing its result.
      const result = error instanceof ServiceUnavailableException ? error.getResponse() : undefined;
      if (!isCheckResult(result)) throw error;
      return result;
    }
  }
}

function isCheckResult(value: unknown): value is HealthCheckResult {
  return typeof value === 'object' && value !== null && 'status' in value && 'details' in value;
}
