import { Readable } from 'node:stream';
import { Controller, Get, Header, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, CurrentCaller, InsufficientScopeError } from '../../auth/index.js';
import { clientSignal, errorBody, toApiError } from '../../http/index.js';
import { cutIdleReader } from '../endpoint/idle.reader.js';
import type { BookedEntry } from './ledger.entry.js';
import { ledgerLine } from './ledger.line.js';
import { RetrieveUsageDocs, ExportLedgerDocs } from './usage.docs.js';
import type { UsageCard } from './usage.dto.js';
import { LedgerQuery, UsageQuery } from './usage.query.js';
import { UsageService } from './usage.service.js';

type Pages = AsyncIterator<readonly BookedEntry[], unknown>;

/** What a caller has used. */
@ApiTags('usage')
@Controller('v1/usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @RetrieveUsageDocs()
  get(@Query() { caller, date }: UsageQuery, @CurrentCaller() asker: Caller): Promise<UsageCard> {
    return this.usage.usageOf(whose(asker, caller), date === undefined ? Date.now() : Date.parse(date));
  }

  @Get('ledger')
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/x-ndjson; charset=utf-8')
  @ExportLedgerDocs()
  async export(
    @Query() { caller, from, to, after, limit }: LedgerQuery,
    @CurrentCaller() asker: Caller,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const owner = whose(asker, caller);
    const pages = this.usage.entriesOf(owner, {
      from: from === undefined ? 0 : Date.parse(from),
      to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
      ...(after !== undefined && { after }),
      limit,
    });
    // While it can still be answered with a status.
    const first = await pages.next();
    const text = linesOf(owner, join(first, pages), clientSignal(request, reply));
    return Readable.from(cutIdleReader(text, reply.raw), { objectMode: false });
  }
}

/**
 * Own usage is for everybody who may call.
 *
 * @throws InsufficientScopeError
 */
function whose({ id, scopes }: Caller, named = id): string {
  const needed = named === id && !scopes.includes('admin') ? 'chat' : 'admin';
  if (!scopes.includes(needed)) throw new InsufficientScopeError(needed);
  return named;
}

async function* join(first: Awaited<ReturnType<Pages['next']>>, rest: AsyncGenerator<readonly BookedEntry[]>) {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** JSON Lines, a page at a time. What breaks off ends with an error's line, never silently. */
async function* linesOf(
  caller: string,
  pages: AsyncIterable<readonly BookedEntry[]>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    for await (const entries of pages) {
      signal.throwIfAborted();
      if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(ledgerLine(caller, entry))}\n`).join('');
    }
  } catch (error) {
    yield `${JSON.stringify(errorBody(toApiError(error)))}\n`;
  }
}
