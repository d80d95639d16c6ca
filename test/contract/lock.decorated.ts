import { afterEach, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiOperation, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { lastValueFrom, Observable, Subject, toArray } from 'rxjs';
import { currentLease, LockModule, WithLock } from '../../src/lock/index.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import type { LockWorld } from '../support/lock-world.js';

const nothing: MethodDecorator = () => undefined;

/** The same routes with a decorator above and one below those of Nest and Swagger. */
function ordersController(above: MethodDecorator, below: MethodDecorator): Type {
  @Controller('v1/orders')
  class OrdersController {
    @above
    @Post(':id/pay')
    @HttpCode(202)
    @ApiOperation({ summary: 'Pay it' })
    @below
    async pay(@Param('id') id: string): Promise<{ id: string }> {
      if (id === 'none') throw new NotFoundException('no such order');
      return Promise.resolve({ id });
    }
  }
  return OrdersController;
}

const lock: MethodDecorator = (prototype, name, descriptor) => {
  // The types of a decorator made for one method, given to any.
  const decorate: unknown = WithLock('orders');
  if (typeof decorate === 'function') Reflect.apply(decorate, undefined, [prototype, name, descriptor]);
};

@Controller('v1/busy')
class BusyController {
  @Get('fail')
  @WithLock('busy', { onBusy: 'fail' })
  async fail(): Promise<string> {
    return Promise.resolve('ran');
  }

  @Get('skip')
  @WithLock('busy', { onBusy: 'skip' })
  async skip(): Promise<string | undefined> {
    return Promise.resolve('ran');
  }
}

@Injectable()
class Jobs {
  readonly feed = new Subject<number>();
  readonly fences: number[] = [];
  inside = 0;
  end: (() => void) | undefined;

  @WithLock((name: string) => `job:${name}`, { waitMs: 30_000 })
  async run(name: string): Promise<string> {
    this.inside += 1;
    this.fences.push(currentLease()?.fence ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.inside -= 1;
    return name;
  }

  @WithLock('hanging')
  async hang(): Promise<string> {
    await new Promise<void>((resolve) => (this.end = resolve));
    return 'done';
  }

  @WithLock('feed')
  watch(): Observable<number> {
    return this.feed;
  }

  @WithLock('rows')
  async *rows(): AsyncGenerator<number> {
    for (let row = 0; row < 3; row += 1) yield await Promise.resolve(row);
  }
}

@Module({})
class RootModule {}

/** @WithLock() on classes that Nest makes. Row D14, D15 and those on decorators. */
export function describeDecorated(world: () => LockWorld): void {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });

  const serve = async (controller: Type): Promise<HttpApp> => {
    const imports = [LockModule.forRoot({ lockStore: await world().open(), graceMs: 0 })];
    const app = await startHttpApp({ controllers: [controller], imports });
    opened.push(app);
    return app;
  };
  /** Without HTTP. */
  const serviceOf = async (): Promise<{ jobs: Jobs; close: () => Promise<void> }> => {
    const imports = [LockModule.forRoot({ lockStore: await world().open(), graceMs: 0 })];
    const root = { module: RootModule, imports, providers: [Jobs] };
    const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    opened.push(app);
    return { jobs: app.get(Jobs), close: () => app.close() };
  };

  it.each([
    ['above the route', lock, nothing],
    ['below the route', nothing, lock],
  ] as const)('D14: changes nothing of the document, the routes and the answers: %s', async (_place, above, below) => {
    const [plain, locked] = [
      await serve(ordersController(nothing, nothing)),
      await serve(ordersController(above, below)),
    ];
    const seen = async ({ app, url }: HttpApp): Promise<unknown> => ({
      document: JSON.stringify(SwaggerModule.createDocument(app, new DocumentBuilder().build())),
      routes: app.getHttpAdapter().getInstance().printRoutes(),
      paid: await answer(`${url}/v1/orders/7/pay`, { method: 'POST' }),
      missing: await answer(`${url}/v1/orders/none/pay`, { method: 'POST' }),
    });
    const expected = await seen(plain);
    expect(expected).toMatchObject({ paid: { status: 202, body: { id: '7' } }, missing: { status: 404 } });
    expect(await seen(locked)).toEqual(expected);
  });

  it('answers 409 with Retry-After, or 204, where another pod has the lock', async () => {
    const [{ url }, [other]] = [await serve(BusyController), await world().pods(1)];
    const lease = await other.acquire('busy');
    const refused = await fetch(`${url}/v1/busy/fail`);
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'lock_busy' } }]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await fetch(`${url}/v1/busy/skip`)).status).toBe(204);
    await lease.release();
    expect(await (await fetch(`${url}/v1/busy/skip`)).text()).toBe('ran');
  });

  it('D15: is exclusive across applications without HTTP, by key, with fences that rise', async () => {
    const pods = [await serviceOf(), await serviceOf()];
    const runs = Array.from({ length: 10 }, () => pods.map(({ jobs }) => jobs.run('same'))).flat();
    const most: number[] = [];
    const looking = setInterval(() => most.push(pods.reduce((sum, { jobs }) => sum + jobs.inside, 0)), 1);
    await Promise.all(runs);
    clearInterval(looking);
    expect(Math.max(0, ...most)).toBeLessThanOrEqual(1);
    const fences = pods.flatMap(({ jobs }) => jobs.fences);
    expect(new Set(fences).size).toBe(20);
    for (const { jobs } of pods) expect(jobs.fences).toEqual(jobs.fences.toSorted((one, other) => one - other));
  });

  it('holds for an Observable from the subscription to its end', async () => {
    const { jobs } = await serviceOf();
    const [other] = await world().pods(1);
    const values = lastValueFrom(jobs.watch().pipe(toArray()));
    while (!jobs.feed.observed) await new Promise(setImmediate);
    expect(await other.tryAcquire('feed')).toBeUndefined();
    jobs.feed.next(1);
    expect(await other.tryAcquire('feed')).toBeUndefined();
    jobs.feed.complete();
    expect(await values).toEqual([1]);
    expect(await (await other.tryAcquire('feed'))?.release()).toBe(true);
  });

  it('holds for an async iteration from its first step until it is left', async () => {
    const { jobs } = await serviceOf();
    const [other] = await world().pods(1);
    for await (const row of jobs.rows()) {
      expect(await other.tryAcquire('rows')).toBeUndefined();
      if (row === 1) break;
    }
    expect(await (await other.tryAcquire('rows'))?.release()).toBe(true);
  });

  it('D7: lets go of the lock when its application closes', async () => {
    const { jobs, close } = await serviceOf();
    const outcome = jobs.hang().catch((error: unknown) => error);
    while (jobs.end === undefined) await new Promise(setImmediate);
    await close();
    expect(await world().busy()).toEqual([]);
    jobs.end();
    expect(await outcome).toMatchObject({ code: 'lock_lost', reason: 'closing', result: 'done' });
    await expect(jobs.run('late')).rejects.toMatchObject({ code: 'draining' });
  });
}

async function answer(url: string, init: RequestInit): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, { ...init, headers: { 'x-request-id': 'r' } });
  return { status: response.status, body: await response.json() };
}
