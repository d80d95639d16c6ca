import { Controller, Get, Header, Inject } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../auth/index.js';
import { LockService } from '../lock/index.js';
import { ADMIN_OPTIONS, type AdminModuleOptions } from './admin.module-definition.js';
import { statusCard } from './status.card.js';
import { StatusDocs } from './status.docs.js';
import type { StatusCard } from './status.dto.js';

/** How the upstreams are, for operators. */
@ApiTags('status')
@RequireScope('admin')
@Controller('v1/status')
export class StatusController {
  constructor(
    @Inject(ADMIN_OPTIONS) private readonly options: Pick<AdminModuleOptions, 'status'>,
    private readonly locks: LockService,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @StatusDocs()
  async get(): Promise<StatusCard> {
    return statusCard(await this.options.status.look(), this.locks.process);
  }
}
