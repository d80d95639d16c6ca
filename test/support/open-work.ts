import { PassThrough } from 'node:stream';
import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientSignal, Drain, type DrainOptions, errorBody, toApiError } from '../../src/http/index.js';
import { eventually } from './eventually.js';
import { startHttpApp, type HttpApp, type HttpAppOptions } from './http-app.js';
import { RawConnection } from './raw-http.js';

/** A server whose requests stay open until a test lets them go. */
export class OpenWork {
  private constructor(
    readonly server: HttpApp,
    private readonly work: Work,
  ) {}

  static async start(
    options: Partial<DrainOptions> & Pick<HttpAppOptions, 'imports' | 'observe' | 'loopbackHostsOnly'> = {},
  ): Promise<OpenWork> {
    work = new Work();
    const drain = new Drain({ drainDelayMs: 0, shutdownGraceMs: 60_000, flushMs: 60_000, ...options });
    return new OpenWork(await startHttpApp({ ...options, controllers: [WorkController], drain }), work);
  }

  get signals(): readonly AbortSignal[] {
    return this.work.signals;
  }

  /** Lets the latest request finish. */
  finish(): void {
    this.work.finish();
  }

  /** Sends a GET and resolves when its handler runs. */
  async open(path: string): Promise<RawConnection> {
    const connection = await RawConnection.open(this.server.port);
    const before = this.signals.length;
    connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually(() => this.signals.length > before);
    return connection;
  }

  async close(): Promise<void> {
    this.finish();
    await this.server.close();
  }
}

/** What a test holds in its hands of an open request. */
class Work {
  readonly signals: AbortSignal[] = [];
  finish: () => void = () => undefined;
}

let work = new Work();

@Controller()
class WorkController {
  /** Answers when the test says so, or with the reason why it may not go on. */
  @Get('json')
  async json(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const signal = clientSignal(request, reply);
    work.signals.push(signal);
    await new Promise<void>((resolve, reject) => {
      work.finish = resolve;
      signal.addEventListener(
        'abort',
        () => {
          reject(signal.reason as Error);
        },
        { once: true },
      );
    });
    return { finished: true };
  }

  /** Streams until the test says so; an abort ends it with an error frame. */
  @Get('stream')
  stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const signal = clientSignal(request, reply);
    work.signals.push(signal);
    const body = new PassThrough();
    body.write('data: first\n\n');
    work.finish = () => body.end('data: [DONE]\n\n');
    signal.addEventListener(
      'abort',
      () => body.end(`data: ${JSON.stringify(errorBody(toApiError(signal.reason)))}\n\n`),
      { once: true },
    );
    void reply.header('content-type', 'text/event-stream').send(body);
  }

  /** Ignores its signal. */
  @Get('stubborn')
  async stubborn(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    work.signals.push(clientSignal(request, reply));
    await new Promise<void>((resolve) => (work.finish = resolve));
    return {};
  }

  @Get('things/:id')
  thing(): object {
    return {};
  }

  @Post('json')
  take(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    return this.json(request, reply);
  }

  @Get('quick')
  quick(): object {
    return { quick: true };
  }

  @Post('quick')
  post(): object {
    return { quick: true };
  }

  @Get('health')
  health(): object {
    return { status: 'ok' };
  }
}
