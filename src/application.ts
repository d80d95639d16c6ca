import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Registry } from 'prom-client';
import { CHAT_SCHEMAS } from './ai/index.js';
import { AppModule } from './app.module.js';
import { configureAuth } from './auth/index.js';
import type { Settings } from './config/index.js';
import { TurnRunner } from './conversation/index.js';
import { showDrain } from './drain.metrics.js';
import type { Phase } from './health/index.js';
import {
  configureHttp,
  createHttpAdapter,
  DEFAULT_FLUSH_MS,
  DEFAULT_LIMITS,
  Drain,
  type DrainResult,
  GOODBYE_MS,
  type HttpOptions,
  onRequestOver,
  sayGoodbye,
  serveDocs,
} from './http/index.js';
import { LockService } from './lock/index.js';
import {
  configureObservability,
  type Logger,
  METRICS_REGISTRY,
  NestLogger,
  processMetrics,
  startTelemetry,
  type Telemetry,
} from './observability/index.js';

/** What a collector is given for the last traces and metrics: what is left of the grace, within these bounds, ms. */
const LEAST_FLUSH_MS = 1_000;
const LONGEST_FLUSH_MS = 5_000;

export interface ApplicationOptions {
  readonly settings: Settings;
  /** The module that gives developers' modules the environment. */
  readonly environment: DynamicModule;
  readonly logger: Logger;
  readonly version: string;
  /** Base URL of the simulator, where it is the upstream. */
  readonly simulatorUrl?: string;
}

/** A coordinator that can be listened on and taken down. */
export interface Application {
  readonly nest: NestFastifyApplication;
  /** What it is called where operators see who holds a lock. */
  readonly process: string;
  /** @returns the base URL under which it answers */
  listen(): Promise<string>;
  /** Drains what was listened to, then closes what is left in order: HTTP, then the modules. */
  shutDown(): Promise<void>;
}

/** Composes the modules by the settings. */
export async function createApplication(options: ApplicationOptions): Promise<Application> {
  const { settings, logger } = options;
  const drain = new Drain({ ...settings.server, flushMs: DEFAULT_FLUSH_MS });
  let hasBooted = false;
  const phase = (): Phase => (drain.state !== 'serving' ? 'draining' : hasBooted ? 'serving' : 'booting');
  const telemetry = await startTelemetry(settings.telemetry, options);
  const nest = await createNest(options, { drain, phase, telemetry });
  const registry = nest.get<Registry>(METRICS_REGISTRY, { strict: false });
  showDrain(registry, drain);
  telemetry.exportMetrics([registry, processMetrics()]);
  return {
    nest,
    process: nest.get(LockService, { strict: false }).process,
    async listen() {
      await nest.listen(settings.server.port, settings.server.host);
      hasBooted = true;
      return nest.getUrl();
    },
    async shutDown() {
      const startedAt = performance.now();
      if (hasBooted) {
        const { aborted } = await drained(nest, drain);
        if (aborted > 0) logger.warn({ aborted }, 'requests were still open when the grace was over');
        await sayGoodbye(nest.getHttpServer(), GOODBYE_MS);
      }
      await nest.close();
      // Last of all: what the others did at their end is to be seen.
      const leftMs = settings.server.shutdownGraceMs - (performance.now() - startedAt);
      await telemetry.close(Math.min(LONGEST_FLUSH_MS, Math.max(LEAST_FLUSH_MS, leftMs)));
    },
  };
}

/** Requests under way may still begin turns and take locks. When they are over, these have what is left of the grace, not a second one. */
async function drained(nest: NestFastifyApplication, drain: Drain): Promise<DrainResult> {
  const [turns, locks] = [nest.get(TurnRunner, { strict: false }), nest.get(LockService, { strict: false })];
  let over: Promise<void> | undefined;
  const result = await drain.run({
    refusing: () => {
      nest.getHttpServer().closeIdleConnections();
    },
    workOver: (graceLeftMs) => {
      over = closeInOrder([turns, locks], graceLeftMs);
    },
  });
  await over;
  return result;
}

/** One after the other, within one grace. */
async function closeInOrder(
  parts: readonly { close(graceMs: number): Promise<void> }[],
  graceMs: number,
): Promise<void> {
  const until = performance.now() + graceMs;
  for (const part of parts) await part.close(Math.max(0, Math.floor(until - performance.now())));
}

interface NestParts {
  readonly drain: Drain;
  readonly phase: () => Phase;
  readonly telemetry: Telemetry;
}

async function createNest(
  options: ApplicationOptions,
  { drain, phase, telemetry }: NestParts,
): Promise<NestFastifyApplication> {
  const { settings, logger } = options;
  const http: HttpOptions = {
    ...settings.server,
    drain,
    limits: DEFAULT_LIMITS,
    report: (error, { id, span }, code) => {
      const message = code === 'internal_error' ? 'unforeseen error' : 'error kept from the caller';
      logger.error({ err: error, request_id: id, trace_id: span?.traceId, code }, message);
    },
  };
  const module = AppModule.forRoot({ ...options, phase });
  const nest = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(http), {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  configureObservability(nest, {
    onOver: onRequestOver,
    tracer: telemetry.tracer,
    propagates: settings.telemetry.propagates,
  });
  configureHttp(nest, http);
  configureAuth(nest);
  serveDocs(nest, { version: options.version, schemas: CHAT_SCHEMAS });
  return nest;
}
