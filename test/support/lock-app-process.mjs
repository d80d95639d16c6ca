/**
 * An application of Nest with a store and locks, as a pod is: it ends on SIGTERM and SIGINT by its shutdown hooks. Its parent says
 * by message what it holds and waits for, and hears what came of it. Times are of the machine's monotonic clock, ms.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { LockModule, LockService } from '../../dist/lock/index.js';
import { STORE, StoreModule } from '../../dist/store/index.js';

const { storeOptions, graceMs } = JSON.parse(process.argv[2]);

class AppModule {
  static root() {
    const locks = LockModule.forRootAsync({ inject: [STORE], useFactory: (store) => ({ store, graceMs }) });
    return { module: AppModule, imports: [StoreModule.forRoot(storeOptions), locks] };
  }
}

const app = await NestFactory.createApplicationContext(AppModule.root(), { logger: ['error'], abortOnError: false });
app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
const locks = app.get(LockService);

process.on('message', (order) => {
  if (order.close) void close();
  else void take(order.take);
});
tell({ event: 'ready' });

/** Ends without a signal: whatever is left behind keeps the process. */
async function close() {
  await app.close();
  process.channel.unref();
}

async function take({ name, key, work, leaseMs, waitMs }) {
  const hold = async (lease) => {
    tell({ event: 'held', name, at: now() });
    await WORKS[work](lease);
    tell({ event: 'worked', name, at: now() });
  };
  try {
    await locks.withLock(key, { leaseMs, waitMs }, hold);
    tell({ event: 'settled', name, outcome: 'released' });
  } catch (error) {
    const reason = error.name === 'LockLostError' ? `${error.name} ${error.reason}` : error.name;
    tell({ event: 'settled', name, outcome: reason });
  }
}

/** How work takes being told to end. */
const WORKS = {
  finishes: () => pass(700),
  obeys: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  ignores: () => pass(60_000),
};

function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(message) {
  process.send(message);
}
