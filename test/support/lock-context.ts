import { type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockModule, type LockModuleOptions, LockService } from '../../src/lock/index.js';
import { KeyWatch } from './key-watch.js';

export interface LockContext<Service> {
  readonly app: INestApplicationContext;
  readonly service: Service;
  readonly locks: LockService;
  readonly keys: KeyWatch;
}

/** The root of a test's application. */
@Module({})
export class RootModule {}

/** An application without HTTP that has locks in memory and one decorated class. */
export async function startLockContext<Service>(
  provider: Type<Service>,
  options: LockModuleOptions = {},
): Promise<LockContext<Service>> {
  const root = { module: RootModule, imports: [LockModule.forRoot({ graceMs: 0, ...options })], providers: [provider] };
  const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  const locks = app.get(LockService);
  return { app, service: app.get(provider), locks, keys: new KeyWatch(() => locks) };
}
