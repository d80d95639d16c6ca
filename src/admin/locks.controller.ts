import { Controller, Delete, Get, Header, Param, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { addActFacts, RequireScope } from '../auth/index.js';
import { LockService } from '../lock/index.js';
import { LockNotFoundError } from './admin.errors.js';
import { lockCard } from './lock.card.js';
import { ListLocksDocs, ReleaseLockDocs, RetrieveLockDocs } from './locks.docs.js';
import type { LockCard, LockList, LockRevocation } from './locks.dto.js';
import { ListLocksQuery, ReleaseLockQuery, RetrieveLockQuery } from './locks.query.js';

/** The locks of all pods on one store, for operators. */
@ApiTags('locks')
@RequireScope('admin')
@Controller('v1/locks')
export class LocksController {
  constructor(private readonly locks: LockService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ListLocksDocs()
  async list(@Query() { limit }: ListLocksQuery): Promise<LockList> {
    const states = await this.locks.list(limit + 1);
    const data = states.slice(0, limit).map(lockCard);
    return { object: 'list', data, has_more: states.length > limit, last_id: data.at(-1)?.key ?? null };
  }

  @Get(':name')
  @Header('cache-control', 'no-store')
  @RetrieveLockDocs()
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- the validation pipe reads it
  async get(@Param('name') key: string, @Query() _query?: RetrieveLockQuery): Promise<LockCard> {
    const state = await this.locks.inspect(key);
    if (state === undefined) throw new LockNotFoundError(key, 'holder or waiter');
    return lockCard(state);
  }

  @Delete(':name')
  @ReleaseLockDocs()
  async release(
    @Param('name') key: string,
    @Query() { mode, token }: ReleaseLockQuery,
    @Req() request: FastifyRequest,
  ): Promise<LockRevocation> {
    const hold = token === undefined ? {} : { hold: token };
    // Unless the store says how many holders there were, it may have happened.
    addActFacts(request, { lock: key, ...hold, mode, revoked: 'unknown' });
    const revoked = await this.locks.forceRelease(key, { mode, ...(token !== undefined && { token }) });
    addActFacts(request, { revoked });
    if (revoked === 0) throw new LockNotFoundError(key, token === undefined ? 'holder' : 'such holder');
    return { object: 'lock.revocation', key, mode, revoked };
  }
}
