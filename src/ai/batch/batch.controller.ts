import { Readable } from 'node:stream';
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequireScope } from '../../auth/index.js';
import { ApiError, clientSignal } from '../../http/index.js';
import { addOutcome } from '../../observability/index.js';
import { isDryRun, readTerms } from '../endpoint/call.reader.js';
import { readReuseTerms } from '../reuse/reuse.terms.js';
import { acceptsEvents } from './accepted.events.js';
import { BatchDocs } from './batch.docs.js';
import { batchEvents, type BatchWork } from './batch.events.js';
import { parseBatch } from './batch.request.js';
import { resultPieces } from './batch.result.js';
import { BatchService, type BatchTerms } from './batch.service.js';
import { BatchTotals } from './batch.totals.js';

@ApiTags('chat')
@Controller('v1/chat/completions/batch')
@RequireScope('chat')
export class BatchController {
  constructor(private readonly batches: BatchService) {}

  @Post()
  @HttpCode(200)
  @BatchDocs()
  async complete(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Readable> {
    if (isDryRun(request)) throw new ApiError('invalid_request', 'a batch has no dry run', { param: 'dryRun' });
    const terms: BatchTerms = {
      call: readTerms(request, Number.POSITIVE_INFINITY),
      reuse: readReuseTerms(request),
      startedAt: performance.now(),
      signal: clientSignal(request, reply),
      totals: new BatchTotals(),
    };
    const batch = parseBatch(request.body, request.bodyText ?? '');
    addOutcome(request, () => terms.totals.fields());
    const work: BatchWork = (finished) => this.batches.run(batch, terms, finished);
    return acceptsEvents(request.headers.accept) ? events(work, reply) : whole(work, terms, reply);
  }
}

function events(work: BatchWork, reply: FastifyReply): Readable {
  void reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // nginx and its kin would collect the stream otherwise.
    'x-accel-buffering': 'no',
  });
  return Readable.from(batchEvents(work), { objectMode: false });
}

async function whole(work: BatchWork, { startedAt, totals }: BatchTerms, reply: FastifyReply): Promise<Readable> {
  const result = await work(() => undefined);
  void reply.headers({
    'content-type': 'application/json; charset=utf-8',
    'x-coordinator-total-ms': String(Math.round(performance.now() - startedAt)),
    ...(totals.costUsd !== undefined && { 'x-coordinator-cost-usd': String(totals.costUsd) }),
  });
  return Readable.from(resultPieces(result), { objectMode: false });
}
