import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  type MessageEvent,
  NotFoundException,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Scope,
  Sse,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ApiOkResponse, ApiOperation, ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { IsInt } from 'class-validator';
import { map, type Observable, of } from 'rxjs';
import { createValidationPipe } from '../../src/http/index.js';
import { currentLease, LockModule, WithLock } from '../../src/lock/index.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

class Amount {
  @ApiProperty({ example: 5 })
  @IsInt()
  cents!: number;
}

@Injectable()
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    // Before the lock: whoever may not call takes none.
    if (currentLease() !== undefined) throw new Error('the guard ran inside of the lock');
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return headers['x-may'] !== 'no';
  }
}

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    return next.handle().pipe(map((answer) => ({ wrapped: answer })));
  }
}

const nothing: MethodDecorator = () => undefined;

/** The same routes, with a decorator above and one below those of Nest and Swagger. */
function ordersController(above: MethodDecorator, below: MethodDecorator, scope: Scope = Scope.DEFAULT): Type {
  @Controller({ path: 'v1/orders', scope })
  class OrdersController {
    @above
    @Post(':id/pay/:times')
    @HttpCode(202)
    @Header('x-paid', 'yes')
    @UseGuards(HeaderGuard)
    @UseInterceptors(Wrapping)
    @ApiOperation({ summary: 'Pay it' })
    @ApiOkResponse({ type: Amount })
    @below
    async pay(
      @Param('id') id: string,
      @Param('times', ParseIntPipe) times: number,
      @Body() amount: Amount,
      @Query('note') note?: string,
    ): Promise<unknown> {
      if (id === 'none') throw new NotFoundException('no such order');
      return Promise.resolve({ id, times, cents: amount.cents, isAmount: amount instanceof Amount, note });
    }

    @above
    @Get('list')
    @below
    list(): Observable<number[]> {
      return of([1, 2]);
    }

    @above
    @Sse('events')
    @below
    events(): Observable<MessageEvent> {
      return of({ data: 'one' }, { data: 'two' });
    }
  }
  return OrdersController;
}

const lock: MethodDecorator = (prototype, name, descriptor) => {
  // Through the types' back door: here one decorator stands on methods of different kinds.
  const decorate: unknown = WithLock('orders');
  if (typeof decorate === 'function') Reflect.apply(decorate, undefined, [prototype, name, descriptor]);
};

class InheritingController extends ordersController(lock, nothing) {}
Controller('v1/orders')(InheritingController);

const start = (controller: Type): Promise<HttpApp> =>
  startHttpApp({
    controllers: [controller],
    imports: [LockModule.forRoot({ defaults: { waitMs: 5_000 } }), { module: DiscoveryModule }],
    prepare: (app) => app.useGlobalPipes(createValidationPipe()),
  });

const documentOf = ({ app }: HttpApp): string =>
  JSON.stringify(SwaggerModule.createDocument(app, new DocumentBuilder().build()), undefined, 1);

function routesOf({ app }: HttpApp): string {
  return app.getHttpAdapter().getInstance().printRoutes();
}

function metadataOf({ app }: HttpApp): unknown {
  return app
    .get(DiscoveryService)
    .getControllers()
    .flatMap(({ metatype }) => {
      const prototype: unknown = Reflect.get(Object(metatype), 'prototype');
      if (typeof prototype !== 'object') return [];
      return new MetadataScanner().getAllMethodNames(prototype).map((name) => {
        const method: unknown = Reflect.get(prototype ?? {}, name);
        if (typeof method !== 'function') return name;
        const keys: readonly unknown[] = Reflect.getMetadataKeys(method);
        const metadata = keys.map((key): unknown => [key, Reflect.getMetadata(key, method)]);
        return [name, method.name, method.length, metadata];
      });
    });
}

async function answersOf({ url }: HttpApp): Promise<unknown> {
  const pay = (path: string, headers: Record<string, string> = {}, body: unknown = { cents: 5 }): Promise<Response> =>
    fetch(`${url}/v1/orders/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'r', ...headers },
      body: JSON.stringify(body),
    });
  const responses = [
    await pay('1/pay/2?note=n'),
    await pay('none/pay/2'),
    await pay('1/pay/x'),
    await pay('1/pay/2', { 'x-may': 'no' }),
    await pay('1/pay/2', {}, { cents: 'x' }),
    await fetch(`${url}/v1/orders/list`, { headers: { 'x-request-id': 'r' } }),
    await fetch(`${url}/v1/orders/events`, { headers: { 'x-request-id': 'r' } }),
  ];
  return Promise.all(
    responses.map(async (response) => {
      const headers = [...response.headers].filter(([name]) => name !== 'date');
      return { status: response.status, headers, body: await response.text() };
    }),
  );
}

describe('routes under @WithLock()', () => {
  let plain: HttpApp;
  beforeAll(async () => {
    plain = await start(ordersController(nothing, nothing));
  });
  afterAll(() => plain.close());

  it('answer as they are meant to without it', async () => {
    const answers = await answersOf(plain);
    expect(answers).toMatchObject([
      { status: 202, body: '{"wrapped":{"id":"1","times":2,"cents":5,"isAmount":true,"note":"n"}}' },
      { status: 404 },
      { status: 400 },
      { status: 403 },
      { status: 400 },
      { status: 200, body: '[1,2]' },
      { status: 200, body: expect.stringContaining('data: two') },
    ]);
  });

  it.each<[string, Type]>([
    ['above the route', ordersController(lock, nothing)],
    ['below the route', ordersController(nothing, lock)],
    ['above and below', ordersController(lock, lock)],
  ])('D14: are the same with it %s: document, routes, metadata and answers', async (_place, controller) => {
    const locked = await start(controller);
    expect(documentOf(locked)).toBe(documentOf(plain));
    expect(routesOf(locked)).toBe(routesOf(plain));
    expect(metadataOf(locked)).toEqual(metadataOf(plain));
    expect(await answersOf(locked)).toEqual(await answersOf(plain));
    await locked.close();
  });

  it.each<[string, Type]>([
    ['request scope', ordersController(lock, nothing, Scope.REQUEST)],
    ['inheritance', InheritingController],
  ])('D14: answer the same with %s', async (_way, controller) => {
    const locked = await start(controller);
    expect(await answersOf(locked)).toEqual(await answersOf(plain));
    await locked.close();
  });
});
