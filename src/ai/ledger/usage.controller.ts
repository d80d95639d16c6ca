import { Readable } from 'node:stream';
import { Controller, Get, Header, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addActFacts, AdminAudit, type Caller, CurrentCaller, InsufficientScopeError } from '../../auth/index.js';
import { clientSignal, errorBody, toApiError } from '../../http/index.js';
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
  constructor(
    private readonly usage: UsageService,
    private readonly audit: AdminAudit,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @RetrieveUsageDocs()
  get(
    @Query() { caller, date }: UsageQuery,
    @CurrentCaller() asker: Caller,
    @Req() request: FastifyRequest,
  ): Promise<UsageCard> {
    return this.usage.usageOf(this.#whose(asker, caller, request), date === undefined ? Date.now() : Date.parse(date));
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
    const owner = this.#whose(asker, caller, request);
    const pages = this.usage.entriesOf(owner, {
      from: from === undefined ? 0 : Date.parse(from),
      to: to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to),
      ...(after !== undefined && { after }),
      limit,
    });
    // While it can still be answered with a status.
    const first = await pages.next();
    const text = linesOf(owner, join(first, pages), clientSignal(request, reply));
    return Readable.from(text, { objectMode: false });
  }

  /**
   * Own usage is for everybody who may call; to look at another caller's is an act of an operator.
   *
   * @throws InsufficientScopeError
   */
  #whose(asker: Caller, named: string | undefined, request: FastifyRequest): string {
    const { id, scopes } = asker;
    const isOwn = named === undefined || named === id;
    const needed = isOwn && !scopes.includes('admin') ? 'chat' : 'admin';
    const isAllowed = scopes.includes(needed);
    if (!isOwn) {
      addActFacts(request, { usage_of: named });
      this.audit.write(request, asker, { result: isAllowed ? 'done' : 'refused' });
    }
    if (!isAllowed) throw new InsufficientScopeError(needed);
    return named ?? id;
  }
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
