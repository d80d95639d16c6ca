import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { configureHttp, createHttpAdapter, DEFAULT_LIMITS, Drain, type HttpOptions } from '../../src/http/index.js';

export interface HttpApp {
  readonly app: NestFastifyApplication;
  readonly port: number;
  readonly url: string;
  readonly drain: Drain;
  /** What went to the report port. */
  readonly reported: unknown[];
  close(): Promise<void>;
}

export interface HttpAppOptions extends Partial<HttpOptions> {
  readonly controllers?: readonly Type[];
  readonly imports?: readonly DynamicModule[];
  /** Runs before our hooks are there: what it adds sees refused requests too. */
  readonly observe?: (app: NestFastifyApplication) => void;
  /** Runs before `app.init()`. */
  readonly prepare?: (app: NestFastifyApplication) => void;
}

@Module({})
class RootModule {}

/** A real server on a free loopback port with our HTTP layer and a test's own controllers. */
export async function startHttpApp(options: HttpAppOptions = {}): Promise<HttpApp> {
  const { controllers = [], imports = [], observe, prepare, ...given } = options;
  const reported: unknown[] = [];
  const drain = given.drain ?? new Drain({ drainDelayMs: 0, shutdownGraceMs: 1_000, flushMs: 500 });
  const http: HttpOptions = {
    bodyLimitBytes: 32 * 1024 * 1024,
    trustProxy: false,
    corsOrigins: [],
    loopbackHostsOnly: false,
    limits: DEFAULT_LIMITS,
    report: (error) => reported.push(error),
    ...given,
    drain,
  };
  const root: DynamicModule = { module: RootModule, controllers: [...controllers], imports: [...imports] };
  const app = await NestFactory.create<NestFastifyApplication>(root, createHttpAdapter(http), {
    bodyParser: false,
    logger: false,
  });
  observe?.(app);
  configureHttp(app, http);
  prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return { app, port: Number(new URL(url).port), url, drain, reported, close: () => app.close() };
}
