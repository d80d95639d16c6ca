import { Readable } from 'node:stream';
import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequireScope } from '../../auth/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import { isDryRun, readCall } from './call.reader.js';
import type { CompletionCall } from '../call/completion-call.js';
import { CompletionObserver } from '../call/completion.observer.js';
import { DryRunService } from '../call/dry-run.service.js';
import { readReuseTerms } from '../reuse/reuse.terms.js';
import type { Delivery } from '../reuse/flight/flight.plan.js';
import { ReuseService } from '../reuse/reuse.service.js';
import { reportHeaders } from './report.headers.js';
import { ChatCompletionDocs } from './schema/chat.docs.js';

/** A reader that has taken nothing more by this long after the deadline is cut off, ms. */
const LAST_READ_MS = 5_000;

const BUFFERED_CHARS = 65_536;

@ApiTags('chat')
@Controller('v1/chat')
@RequireScope('chat')
export class ChatController {
  constructor(
    private readonly answers: ReuseService,
    private readonly dryRuns: DryRunService,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  @Post('completions')
  @HttpCode(200)
  @ChatCompletionDocs()
  async complete(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | Readable> {
    if (isDryRun(request)) return this.dryRun(request, reply);
    const terms = readReuseTerms(request);
    const call = readCall(request, reply, this.options.requestDeadlineMs, (ended, error) => {
      this.observer.record(ended, error);
    });
    try {
      const delivery = await this.answers.answer(call, terms);
      void reply.headers(delivery.headers);
      const { stream } = call.request;
      if (stream !== true && delivery.kind === 'whole') return whole(delivery.recording.text, call, reply);
      return streamed(delivery, call, reply);
    } finally {
      void reply.headers(reportHeaders(call));
    }
  }

  private async dryRun(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const call = readCall(request, reply, this.options.requestDeadlineMs, () => undefined);
    const text = JSON.stringify(await this.dryRuns.of(call).finally(call.ended));
    void reply.header('content-type', 'application/json; charset=utf-8');
    return text;
  }
}

function whole(text: string, call: CompletionCall, reply: FastifyReply): string {
  // Less than this fits into the connection's buffers, read or not.
  if (text.length > BUFFERED_CHARS) cutLateReader(call, reply);
  void reply.header('content-type', 'application/json; charset=utf-8');
  return text;
}

function streamed(delivery: Delivery, call: CompletionCall, reply: FastifyReply): Readable {
  void reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // nginx and its kin would collect the stream otherwise.
    'x-accel-buffering': 'no',
  });
  cutLateReader(call, reply);
  return Readable.from(delivery.kind === 'live' ? delivery.frames : [delivery.recording.text], { objectMode: false });
}

/** What is sent to nobody must not be kept for ever. */
function cutLateReader({ deadlineMs, startedAt }: CompletionCall, { raw }: FastifyReply): void {
  const leftMs = deadlineMs - (performance.now() - startedAt);
  const cut = setTimeout(() => raw.destroy(), Math.max(0, leftMs) + LAST_READ_MS);
  raw.once('close', () => {
    clearTimeout(cut);
  });
}
