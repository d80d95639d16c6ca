import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Module,
  Post,
  SetMetadata,
} from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { FastifyReply } from 'fastify';
import {
  AuthModule,
  type AuthModuleOptions,
  type Caller,
  configureAuth,
  CurrentCaller,
  RequireScope,
} from '../../src/auth/index.js';
import type { CallerSettings } from '../../src/config/index.js';
import { onRequestOver, Public, PUBLIC_ROUTE } from '../../src/http/index.js';
import { configureObservability, type Logger, ObservabilityModule } from '../../src/observability/index.js';

@Controller()
class ProtectedController {
  @Get('whoami')
  whoami(@CurrentCaller() caller: Caller): Caller {
    return caller;
  }

  @Post('echo')
  echo(@CurrentCaller() caller: Caller): { caller: string } {
    return { caller: caller.id };
  }

  @RequireScope('admin')
  @Get('admin-only')
  adminOnly(): string {
    return 'admin';
  }

  @Public()
  @Get('open')
  open(): string {
    return 'open';
  }

  @Public()
  @Post('open')
  openWithBody(): string {
    return 'open';
  }

  @Public()
  @Post('open/:id')
  openWithParameter(): string {
    return 'open';
  }

  @Public()
  @Get('nobody')
  nobody(@CurrentCaller() caller: Caller): Caller {
    return caller;
  }
}

@SetMetadata(PUBLIC_ROUTE, true)
@Controller('all-open')
class PublicController {
  @Get()
  read(): string {
    return 'open';
  }
}

@RequireScope('admin')
@Controller('all-admin')
class AdminController {
  @RequireScope('chat')
  @Get()
  read(): string {
    return 'admin';
  }
}

@Module({ controllers: [ProtectedController, PublicController, AdminController] })
class RoutesModule {}

/** Stands for the status table of http/: tells the code and the message of whatever was thrown. */
@Catch()
class CodeFilter implements ExceptionFilter {
  catch({ code, message }: { code?: string; message: string }, host: ArgumentsHost): void {
    const status =
      { invalid_api_key: 401, insufficient_scope: 403, overloaded: 503, rate_limit_exceeded: 429 }[code ?? ''] ?? 500;
    void host.switchToHttp().getResponse<FastifyReply>().status(status).send({ error: { code, message } });
  }
}

/** An application with a few routes behind auth/ and observability/. Close it. */
export async function startAuthApp(
  callers: readonly CallerSettings[],
  logger: Logger,
  more: Partial<AuthModuleOptions> = {},
): Promise<NestFastifyApplication> {
  const testing = await Test.createTestingModule({
    imports: [ObservabilityModule.forRoot({ logger }), AuthModule.forRoot({ callers, logger, ...more }), RoutesModule],
  }).compile();
  const adapter = new FastifyAdapter({ bodyLimit: 64 * 1024 * 1024 });
  const app = testing.createNestApplication<NestFastifyApplication>(adapter, { logger: false });
  app.useGlobalFilters(new CodeFilter());
  configureObservability(app, { onOver: onRequestOver });
  configureAuth(app);
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}
